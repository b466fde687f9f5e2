"""Dates that a question names, and whether a text tells when: calendar dates and "last week", in several languages."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

YEARS_LOOKED_BACK = 10  # a date without a year is that day of any of the last ten years
PERIODS_MAX = 32
YEAR_MIN = 1900
YEAR_MAX = 2199


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A stretch of whole days, both ends included."""

    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Dated:
    """What a question says of time, and the question without it."""

    periods: tuple[Period, ...]
    rest: str


Reader = Callable[[re.Match[str], date], tuple[Period, ...]]

# Month names as they begin, in English, German, Czech, Ukrainian and Russian; the ending is any.
_MONTHS = (
    r"jan(?:uary|uar)?\b|jänner|led(?:en|na|nu)\b|січ(?:ень|ня|ні)|январ",
    r"feb(?:ruary|ruar)?\b|únor|лют(?:ий|ого|ому)|феврал",
    r"mar(?:ch)?\b|märz|březn|březen|берез(?:ень|ня|ні)|март",
    r"apr(?:il)?\b|dub(?:en|na|nu)\b|квіт(?:ень|ня|ні)|апрел",
    r"may\b|mai\b|květ(?:en|na|nu)\b|трав(?:ень|ня|ні)|ма[йея]\b",
    r"june?\b|juni\b|červ(?:en|na|nu)\b|черв(?:ень|ня|ні)|июн",
    r"july?\b|juli\b|červen(?:ec|ce|ci)\b|лип(?:ень|ня|ні)|июл",
    r"aug(?:ust)?\b|srp(?:en|na|nu)\b|серп(?:ень|ня|ні)|август",
    r"sept?(?:ember)?\b|září|верес(?:ень|ня|ні)|сентябр",
    r"oct(?:ober)?\b|okt(?:ober)?\b|říj(?:en|na|nu)\b|жовт(?:ень|ня|ні)|октябр",
    r"nov(?:ember)?\b|listopad(?:u)?\b|листопад|ноябр",
    r"dec(?:ember)?\b|dez(?:ember)?\b|prosin(?:ec|ce|ci)\b|груд(?:ень|ня|ні)|декабр",
)
_MONTH = r"(?P<month>" + "|".join(f"(?:{name})" for name in _MONTHS) + r")\w*\.?"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.|-?го|-?е)?"
_YEAR = r"(?P<year>(?:19|20|21)\d\d)"
_OF = r"(?:\s+of)?\s+"
_IN = (
    r"\b(?:in|during|since|by|of|until|before|after|last|this|early|late|mid|im|seit|nach|vor|bis|v|od|po"
    r"|у|в|з|від|с|до)\b"
)
_UNIT_DAY = r"days?|tag(?:e|en)?|d(?:en|ny|ní|nů)|ден|дн(?:я|і|ів|ей)|день"
_UNIT_WEEK = r"weeks?|woche[n]?|týd(?:en|ny|nů)|тиж(?:день|ні|нів)|недел[юьи]"
_UNIT_MONTH = r"months?|monat(?:e|en)?|měsí(?:c|ce|ců)|місяц(?:ь|і|ів)|месяц(?:а|ев)?"
_UNIT_YEAR = r"years?|jahr(?:e|en)?|rok(?:y|u)?|let|р(?:ік|оки|оків)|год(?:а)?|лет"
_LAST = (
    r"last|past|previous|letzte[rnms]?|vorige[rnms]?|vergangene[rnms]?|minul[ýáéou]\w*|минул\w+|прошл\w+|попередн\w+"
)
_THIS = r"this|current|diese[rnms]?|t(?:ento|uto|oto|ohoto)|цьо(?:го|му)|ц(?:ей|я|ього)|эт(?:от|ой|у|ом)"


def _month_number(text: str) -> int:
    return next(number for number, name in enumerate(_MONTHS, 1) if re.match(name, text, re.IGNORECASE))


def _month(year: int, month: int) -> Period:
    following = date(year + month // 12, month % 12 + 1, 1)
    return Period(date(year, month, 1), following - timedelta(days=1))


def _day(year: int, month: int, day: int) -> tuple[Period, ...]:
    try:
        return (Period(date(year, month, day), date(year, month, day)),)
    except ValueError:  # the 31st of June: a person's slip, not a date
        return ()


def _calendar(match: re.Match[str], today: date) -> tuple[Period, ...]:
    found = match.groupdict()
    text = found["month"]
    month = int(text) if text.isdigit() else _month_number(text)
    years = (int(found["year"]),) if found.get("year") else range(today.year, today.year - YEARS_LOOKED_BACK, -1)
    if not 1 <= month <= 12:
        return ()
    if found.get("day"):
        return tuple(period for year in years for period in _day(year, month, int(found["day"])))
    return tuple(_month(year, month) for year in years)


def _year(match: re.Match[str], _today: date) -> tuple[Period, ...]:
    return (Period(date(int(match["year"]), 1, 1), date(int(match["year"]), 12, 31)),)


def _days_back(first: int, last: int) -> Reader:
    return lambda _match, today: (Period(today - timedelta(days=first), today - timedelta(days=last)),)


def _ago(days: int) -> Reader:
    def periods(match: re.Match[str], today: date) -> tuple[Period, ...]:
        count = next((int(group) for group in match.groups() if group), 1)
        back = min(count * days, (today - date.min).days - days)
        slack = days // 2
        return (Period(today - timedelta(days=back + slack), today - timedelta(days=max(0, back - slack))),)

    return periods


def _weeks_back(count: int) -> Reader:
    def periods(_match: re.Match[str], today: date) -> tuple[Period, ...]:
        monday = today - timedelta(days=today.weekday() + 7 * count)
        return (Period(monday, monday + timedelta(days=6)),)

    return periods


def _months_back(count: int) -> Reader:
    def periods(_match: re.Match[str], today: date) -> tuple[Period, ...]:
        months = today.year * 12 + today.month - 1 - count
        return (_month(months // 12, months % 12 + 1),)

    return periods


def _years_back(count: int) -> Reader:
    return lambda _match, today: (Period(date(today.year - count, 1, 1), date(today.year - count, 12, 31)),)


def _ago_pattern(unit: str) -> str:
    number = r"(\d{1,4})\s+"
    return rf"\b{number}(?:{unit})\s+(?:ago|тому|назад)\b|\b(?:vor|před)\s+{number}(?:{unit})\b"


# The first that matches takes its words out of the text, so the longer forms come first.
_RULES: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), reader)
    for pattern, reader in (
        (rf"\b{_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})\b", _calendar),
        (rf"\b(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?{_YEAR}\b", _calendar),
        (rf"{_YEAR}\s*[年년]\s*(?P<month>\d{{1,2}})\s*[月월]\s*(?:(?P<day>\d{{1,2}})\s*[日号일])?", _calendar),
        (r"(?<!\d)(?P<month>\d{1,2})\s*[月월]\s*(?P<day>\d{1,2})\s*[日号일]", _calendar),
        (rf"\b{_DAY}(?:{_OF}|\s*){_MONTH},?\s+{_YEAR}\b", _calendar),
        (rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}\b", _calendar),
        (rf"\b{_MONTH},?{_OF}{_YEAR}\b", _calendar),
        (rf"\b{_DAY}{_OF}{_MONTH}", _calendar),
        (rf"\b{_MONTH}\s+{_DAY}\b", _calendar),
        (rf"{_IN}[\s-]+(?:the\s+)?{_MONTH}", _calendar),
        (rf"{_IN}\s+(?:the\s+)?(?:year\s+|jahr\s+|roce\s+)?{_YEAR}\b", _year),
        (rf"\b{_YEAR}\s*(?:році|року|году|года|г\.|年|년)", _year),
        (_ago_pattern(_UNIT_DAY), _ago(1)),
        (_ago_pattern(_UNIT_WEEK), _ago(7)),
        (_ago_pattern(_UNIT_MONTH), _ago(30)),
        (_ago_pattern(_UNIT_YEAR), _ago(365)),
        (
            r"\bday before yesterday\b|\bvorgestern\b|\bpředevčírem\b|\bпозавчора\b|\bпозавчера\b|前天|一昨日|그저께",
            _days_back(2, 2),
        ),
        (
            r"\byesterday\b|\blast night\b|\bgestern\b|\bvčera\b|\bвчора\b|\bвчера\b|昨天|昨日|어제|\bأمس\b",
            _days_back(1, 1),
        ),
        (
            r"\btoday\b|\btonight\b|\bheute\b|\bdnes\b|\bсьогодні\b|\bсегодня\b|今天|今日|오늘|\bاليوم\b",
            _days_back(0, 0),
        ),
        (rf"\b(?:{_LAST})\s+(?:weekend|wochenende|víkend\w*|вихідн\w+|выходн\w+)", _days_back(9, 1)),
        (rf"\b(?:{_LAST})\s+(?:{_UNIT_WEEK}|тижня|неделе)|上周|上个星期|先週|지난주|الأسبوع الماضي", _weeks_back(1)),
        (rf"\b(?:{_THIS})\s+(?:{_UNIT_WEEK}|тижня|неделе)|这周|本周|今週|이번 주", _weeks_back(0)),
        (rf"\b(?:{_LAST})\s+(?:{_UNIT_MONTH}|місяця|месяце)|上个月|先月|지난달|الشهر الماضي", _months_back(1)),
        (rf"\b(?:{_THIS})\s+(?:{_UNIT_MONTH}|місяця|месяце)|这个月|今月|이번 달", _months_back(0)),
        (rf"\b(?:{_LAST})\s+(?:{_UNIT_YEAR}|року|году)|\bloni\b|\bторік\b|去年|昨年|작년|العام الماضي", _years_back(1)),
        (rf"\b(?:{_THIS})\s+(?:{_UNIT_YEAR}|році|году)|\bletos\b|\bцьогоріч\b|今年|올해", _years_back(0)),
    )
)
# Words that say when something was, or will be, in a statement: wider than what a question's period can be made of.
_TELLS = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|since|recently|just|morning"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|april|june|july|august|september|october|november|december"
    r"|gestern|heute|morgen|letzte\w*|nächste\w*|woche\w*|wochenende|monat\w*|jahr\w*|seit|kürzlich"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag\w*|mittwoch\w*|januar|februar|märz|juni|juli|oktober|dezember"
    r"|včera|dnes|zítra|minul\w+|příští\w*|týd\w+|víkend\w*|měsíc\w*|nedávno"
    r"|вчора|сьогодні|завтра|минул\w+|наступн\w+|тиж\w+|місяц\w+|рок(?:у|и|ів)|тому|нещодавно"
    r"|вчера|сегодня|прошл\w+|следующ\w+|недел\w+|месяц\w*|год(?:а|у)?|назад|недавно"
    r"|أمس|اليوم|غدا|الماضي|القادم|(?:19|20|21)\d\d)\b"
    r"|昨天|今天|明天|上周|下周|星期|去年|今年|昨日|今日|明日|先週|来週|先月|어제|오늘|내일|지난|다음|\d\s?[年月日년월일]",
    re.IGNORECASE,
)


def read(question: str, today: date) -> Dated:
    """Return the periods a question names, seen from `today`, and the question without the words that name them."""
    periods: list[Period] = []
    rest = question
    for pattern, reader in _RULES:
        for match in pattern.finditer(rest):
            periods.extend(_in_range(reader(match, today)))
        if periods:
            rest = pattern.sub(" ", rest)
    return Dated(tuple(sorted(set(periods))[:PERIODS_MAX]), rest if rest.strip(" ?.!") else question)


def _in_range(periods: tuple[Period, ...]) -> Iterator[Period]:
    return (period for period in periods if YEAR_MIN <= period.first.year <= YEAR_MAX)


def tells_when(text: str) -> bool:
    """Say whether a statement has words of time, so that it may answer "when"."""
    return _TELLS.search(text) is not None
