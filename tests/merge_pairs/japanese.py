"""Japanese values, few and plain; the lists were written for this set."""

from __future__ import annotations

from tests.merge_pairs import english, values
from tests.merge_pairs.values import Kind, listed

_DIGITS = "零一二三四五六七八九"


def _time(hour: int, minute: int) -> values.Forms:
    half, twelve = ("午前", hour) if hour < 12 else ("午後", hour - 12)
    return f"{half}{twelve}時{f'{minute}分' if minute else ''}", f"{hour}:{minute:02}"


KINDS: dict[str, Kind] = {
    "person": listed("name", "田中, 佐藤, 鈴木, 高橋, 伊藤, 渡辺, 山本, 中村, 小林, 加藤, 吉田, 山田"),
    "place": listed("place", "東京, 大阪, 京都, 名古屋, 札幌, 福岡, 仙台, 神戸, 横浜, 広島"),
    "company": english.KINDS["company"],
    "database": english.KINDS["database"],
    "version": values.versions(("",)),
    "count": values.numbers(3, 9, lambda n: (str(n), _DIGITS[n])),
    "number": values.numbers(13, 980, lambda n: (str(n),)),
    "percent": values.numbers(3, 95, lambda n: (f"{n}%", f"{n}パーセント")),
    "weekday": listed("weekday", "月曜日, 火曜日, 水曜日, 木曜日, 金曜日, 土曜日, 日曜日", closed=True),
    "month": listed("month", "1月, 2月, 3月, 4月, 5月, 6月, 7月, 8月, 9月, 10月, 11月, 12月", closed=True),
    "day": values.days(lambda day: (f"{day.month}月{day.day}日", f"{day.month}/{day.day}")),
    "time": values.times(_time),
    "colour": listed("colour", "赤, 青, 緑, 黄色, 黒, 白, 紫", closed=True),
    "food": listed("value", "ピーナッツ, えび, きのこ, 卵, マンゴー, 豆腐, そば, 牛肉"),
    "drink": listed("value", "緑茶, コーヒー, 牛乳, 豆乳, オレンジジュース, ココア"),
}
