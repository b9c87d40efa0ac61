"""Names that a reader of the language tells apart are never one, ways of writing that are one are (docs/reference/forgetting.md).

A row of NAMES are names of one script, each written in the ways that are the same; any two of them differ in what a reader sees: a
vowel sign, a tone, a virama, one letter more. In scripts without blanks a shorter name may be within a longer one: there only the
words are compared, not where they are found.
"""

from __future__ import annotations

import itertools
import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from jochi.forgetting.spelling import Spelling, pattern
from jochi.forgetting.words import as_the_server_folds, folded_needle, phrase, says
from jochi.text.letters import bare, folded, is_unspaced

NAMES: dict[str, str] = {
    "Devanagari": "मीना|मी\u200dना मुन्ना मैना मिना मन मना मीन मीनाक्षी जाकिर ज़ाकिर|ज\u093cाकिर काला किला कल कुल बंधन बँधन "
    "दर्या दर्\u200dया",
    "Bengali": "মীনা মিনা মিনু মন রহিম রাহিম করিম কারিম ৰহিম র্যাব র\u200d্যাব",
    "Gurmukhi": "ਮੀਨਾ ਮਿਨਾ ਮਨ ਸਿੰਘ ਸੰਘ ਗੁਰ ਗਰੂ",
    "Gujarati": "મીના મિના મન મેના પટેલ પટલ",
    "Oriya": "ମୀନା ମିନା ମନ ମେନା",
    "Tamil": "கமலா கமல் கமலி கிமிலா கோமலா|க\u0bc7\u0bbeமலா",
    "Telugu": "రాము రామ రమ రిము రాములు",
    "Kannada": "ರಾಮು ರಾಮ ರಮ ರಿಮು",
    "Malayalam": "മീന മിന മീനൻ|മീനന\u0d4d\u200d മീനന് മാനൻ",
    "Sinhala": "ශ්\u200dරී|ශ්රී ශරී ශරි නිමල් නිමලා",
    "Thai": "สมศรี สมศักดิ์ สมสุรี เก่า เก้า เกา กา น้ำ|นํ้า นำ นาม แดง|แดง แด้ง ไก่ ไก",
    "Lao": "ສົມສີ ສົມສິ ສຸມສີ ກຳ|ກໍາ ກາ ເກົ່າ ເກົ້າ",
    "Khmer": "សុខា សុខ សខា ស្រី រី ស្រាយ",
    "Myanmar": "အောင် အောက် မင်း မ မာ ကျော် ကြော်",
    "Tibetan": "བཀྲ བཀ བཀྲིས བསྟན",
    "Arabic": "محمد|مُحَمَّد|محـــمد|\ufee3\ufea4\ufee4\ufeaa|\u200fمحمد\u200f محمود حمد أحمد|أَحْمَد|ا\u0654حمد احمد "
    "علي|عَلِيّ علا رحمن|رحمٰن",
    "Persian": "علی علیرضا|علی\u200cرضا زهرا زهره",
    "Hebrew": "שלום|שָׁלוֹם|שלום\u200f שלם שלומי דוד|דָּוִד דודו",
    "Syriac": "ܡܪܝܡ|ܡܰܪܝܰܡ ܡܪܝ",
    "Greek": "Αλέξανδρος|ΑΛΈΞΑΝΔΡΟΣ|αλέξανδρος Αλέξανδρα Νίκος|νίκος|ΝΊΚΟΣ Νίκο Μάϊος|Μάι\u0308ος Μάιος",
    "Cyrillic": "Иван|ИВАН|Ива\u0301н Йван Иванна Алексей|Алексеи\u0306 Алексеи Артём|АРТЁМ Артем",
    "Georgian": "ნინო|ᲜᲘᲜᲝ ნინა ნანა",
    "Armenian": "Անի|անի Անին Աննա",
    "Latin": "Müller|Mu\u0308ller|MÜLLER|Mül\u00adler|Ｍüller Muller Möller Müllers Straße|STRASSE José Jose Nguyễn|NGUYỄN Nguyên",
    "Hangul": "김철수|\u1100\u1175\u11b7철수 김철 김절수 김철순 길철수",
    "Kana": "アンナ|ｱﾝﾅ アンナリサ アン アナ ガンナ|カ\u3099ンナ カンナ さくら ざくら さくらこ",
    "Han": "王伟 王偉 王维 王伟明",
    "Ethiopic": "ሰላም ሰለም ሳላም",
    "Thaana": "މުހައްމަދު މިހައްމަދު މުހަމަދު",
    "Javanese": "ꦱꦸꦫ ꦱꦶꦫ ꦱꦫ",
}  # fmt: skip
GROUPS = {script: [group.split("|") for group in line.split(" ")] for script, line in NAMES.items()}
IN = ("{}", "x {} y", "({}), «{}».", "12 {}\n34")


def _database_finds(text: str, spelling: Spelling) -> bool:
    folded_text, rough = as_the_server_folds(text), pattern([spelling])
    decomposed = unicodedata.normalize("NFKD", folded_text)
    return folded_needle(spelling.words) in folded_text or bool(rough and regex.fullmatch(rough, decomposed, regex.V1))


@pytest.mark.parametrize("script", GROUPS)
def test_each_way_of_writing_finds_the_others_and_no_other_name(script: str) -> None:
    for group, others in ((one, [each for each in GROUPS[script] if each is not one]) for one in GROUPS[script]):
        assert {phrase(each) for each in group} == {phrase(group[0])}
        assert phrase(" ".join(phrase(group[0]))) == phrase(group[0])
        for asked, written in itertools.product(group, group):
            for sentence in IN:
                text = sentence.replace("{}", written)
                assert says(text, phrase(asked)), (asked, text)
                assert _database_finds(text, Spelling(asked)), (asked, text)
        for asked, (written, *_) in itertools.product(group, others):
            within = is_unspaced(phrase(asked)[-1]) and len(phrase(asked)) < len(phrase(written))
            for sentence in IN:
                assert within or not says(sentence.replace("{}", written), phrase(asked)), (asked, written)
            assert phrase(asked) != phrase(written)


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("เพื่อนชื่อสมศรีอยู่ที่เชียงใหม่", "สมศรี", True),
        ("นายสม ศรีสุข", "สมศรี", True),
        ("ขอเก้าตัว", "กา", False),
        ("ນາງສົມສີຢູ່ວຽງຈັນ", "ສົມສີ", True),
        ("លោកសុខានៅភ្នំពេញ", "សុខា", True),
        ("ស្រីមុំ", "រី", False),
        ("ဦးအောင်ဆန်းသည်", "အောင်ဆန်း", True),
        ("ဦးမင်းသည်", "မ", False),
        ("김철수는 서울에 산다", "김철수", True),
        ("我见王伟了", "王伟", True),
        ("アンナさんは", "アンナ", True),
        ("アンナリサさんは", "アンナ", False),
        ("メールはa.b@x.jpです", "a.b@x.jp", True),
        ("इसे मीना@x.in पर भेजो", "मीना", False),
        ("शलोम\u200bमीना", "मीना", True),
    ],
)
def test_within_sentences(text: str, wanted: str, expected: bool) -> None:
    assert says(text, phrase(wanted)) is expected
    assert not expected or _database_finds(text, Spelling(wanted))


LETTERS = st.text(
    st.one_of(
        st.sampled_from(sorted({letter for line in NAMES.values() for letter in line} | set("\u200b\u200f\u0301\u064e\u0640"))),
        st.characters(blacklist_categories=("Cs",)),
    ),
    max_size=12,
)  # fmt: skip


@given(LETTERS, LETTERS, LETTERS)
def test_what_is_folded_stays_so_and_the_database_finds_what_we_find(before: str, wanted: str, after: str) -> None:
    assert folded(folded(wanted)) == folded(wanted)
    assert bare(folded(wanted)) == bare(wanted)
    said = phrase(wanted)
    if said:
        text = f"{before} \u2028 {wanted} \u2028 {after}"
        assert says(text, said)
        assert _database_finds(text, Spelling(wanted))
        for glued in (before + wanted + after, f"{before}{wanted}", f"{wanted}{after}"):
            if says(glued, said):
                assert _database_finds(glued, Spelling(wanted))
