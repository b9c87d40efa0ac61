"""Chinese values (simplified), few and plain; the lists were written for this set."""

from __future__ import annotations

from tests.merge_pairs import english, values
from tests.merge_pairs.values import Kind, listed

_DIGITS = "零一二三四五六七八九"


def _time(hour: int, minute: int) -> values.Forms:
    half, twelve = ("上午", hour) if hour < 12 else ("下午", hour - 12)
    return f"{half}{twelve}点{f'{minute}分' if minute else ''}", f"{hour}:{minute:02}"


KINDS: dict[str, Kind] = {
    "person": listed("name", "小明, 小红, 王芳, 李娜, 张伟, 刘洋, 陈静, 杨帆, 赵磊, 周敏, 吴刚, 孙丽"),
    "place": listed("place", "北京, 上海, 广州, 深圳, 成都, 杭州, 南京, 武汉, 西安, 重庆"),
    "company": english.KINDS["company"],
    "database": english.KINDS["database"],
    "version": values.versions(("",)),
    "count": values.numbers(3, 9, lambda n: (str(n), _DIGITS[n])),
    "number": values.numbers(13, 980, lambda n: (str(n),)),
    "percent": values.numbers(3, 95, lambda n: (f"{n}%", f"百分之{n}")),
    "weekday": listed(
        "weekday",
        "星期一|周一, 星期二|周二, 星期三|周三, 星期四|周四, 星期五|周五, 星期六|周六, 星期日|周日",
        closed=True,
    ),
    "month": listed(
        "month", "一月|1月, 二月|2月, 三月|3月, 四月|4月, 五月|5月, 六月|6月, 七月|7月, 八月|8月, 九月|9月", closed=True
    ),
    "day": values.days(lambda day: (f"{day.month}月{day.day}日", f"{day.month}月{day.day}号")),
    "time": values.times(_time),
    "colour": listed("colour", "红色, 蓝色, 绿色, 黄色, 黑色, 白色, 紫色", closed=True),
    "food": listed("value", "花生, 虾, 蘑菇, 鸡蛋, 芒果, 豆腐, 饺子, 牛肉"),
    "drink": listed("value", "绿茶, 咖啡, 牛奶, 豆浆, 橙汁, 可可"),
}
