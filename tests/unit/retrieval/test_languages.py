"""A memory is found by a question in its language that inflects every word otherwise."""

import pytest

from memwarden_policy.retrieval.language import CYRILLIC, LATIN, Language
from memwarden_policy.retrieval.reading import read_memory

MEMORIES = {
    Language.ENGLISH: (
        "The customer prefers her invoices on Mondays.",
        "We moved the databases to another data centre.",
        "Deployments are frozen until the audit is finished.",
        "Ann's dogs were adopted from a shelter in Leeds.",
    ),
    Language.GERMAN: (
        "Der Kunde möchte seine Rechnungen immer am Montag erhalten.",
        "Wir haben die Datenbanken in ein anderes Rechenzentrum verlegt.",
        "Die Verträge mit den Lieferanten laufen im Herbst aus.",
        "Alle Häuser der Siedlung bekommen neue Fenster.",
    ),
    Language.CZECH: (
        "Zákazník chce faktury vždy v pondělí.",
        "Databáze jsme přestěhovali do jiného datového centra.",
        "Smlouvy s dodavateli končí na podzim.",
        "Schůzka s vedoucím týmu se přesouvá.",
    ),
    Language.UKRAINIAN: (
        "Клієнтка бажає отримувати рахунки щопонеділка.",
        "Ми перенесли бази даних до іншого центру обробки.",
        "Договори з постачальниками закінчуються восени.",
        "Розгортання кубернетеса заморожене до кінця аудиту.",
    ),
    Language.RUSSIAN: (
        "Клиентка хочет получать счета по понедельникам.",
        "Мы перенесли базы данных в другой центр обработки.",
        "Договоры с поставщиками заканчиваются осенью.",
        "Встреча с руководителем команды переносится.",
    ),
    Language.ARABIC: (
        "العميل يفضل استلام الفواتير يوم الاثنين.",
        "نقلنا قواعد البيانات إلى مركز آخر.",
        "العقود مع الموردين تنتهي في الخريف.",
        "الاجتماع مع المدير تأجل.",
    ),
    Language.CHINESE: (
        "客户更喜欢在星期一收到发票。",
        "我们把数据库迁移到了上海的数据中心。",
        "与供应商的合同秋天到期。",
        "部署在审计结束之前冻结。",
    ),
    Language.JAPANESE: (
        "顧客は請求書を月曜日に受け取りたい。",
        "データベースを別のデータセンターに移行しました。",
        "仕入れ先との契約は秋に終わります。",
        "監査が終わるまでデプロイを止めています。",
    ),
    Language.KOREAN: (
        "고객은 월요일에 청구서를 받고 싶어 합니다.",
        "데이터베이스를 다른 데이터 센터로 옮겼습니다.",
        "공급업체와의 계약은 가을에 끝납니다.",
        "감사가 끝날 때까지 배포를 멈췄습니다.",
    ),
}

QUESTIONS = (
    (Language.ENGLISH, "which customers prefer an invoice on Monday?", 0),
    (Language.ENGLISH, "moving a database", 1),
    (Language.ENGLISH, "is deployment frozen while auditing?", 2),
    (Language.ENGLISH, "where was Ann's dog adopted?", 3),
    (Language.GERMAN, "Wann erhält die Kundin ihre Rechnung?", 0),
    (Language.GERMAN, "Verlegung einer Datenbank", 1),
    (Language.GERMAN, "Vertrag des Lieferanten", 2),
    (Language.GERMAN, "Welches Haus bekommt ein neues Fenster?", 3),
    (Language.CZECH, "faktura pro zákazníka", 0),
    (Language.CZECH, "kam se přestěhovala databáze?", 1),
    (Language.CZECH, "smlouva s dodavatelem", 2),
    (Language.CZECH, "schuzku s vedoucimi", 3),  # typed without accents
    (Language.UKRAINIAN, "коли клієнтці надіслати рахунок?", 0),
    (Language.UKRAINIAN, "перенесення бази даних", 1),
    (Language.UKRAINIAN, "договір постачальника", 2),
    (Language.UKRAINIAN, "що з кубернетесом", 3),  # in no dictionary
    (Language.RUSSIAN, "счет клиентке", 0),
    (Language.RUSSIAN, "куда перенесена база", 1),
    (Language.RUSSIAN, "договора поставщиков", 2),
    (Language.RUSSIAN, "встречу с руководством перенесли?", 3),
    (Language.ARABIC, "متى يستلم عميل الفواتير؟", 0),
    (Language.ARABIC, "قاعدة البيانات", 1),
    (Language.ARABIC, "عقود الموردين", 2),
    (Language.ARABIC, "اجتماع المدير", 3),
    (Language.CHINESE, "什么时候给客户发票？", 0),
    (Language.CHINESE, "數據庫遷移", 1),  # in traditional characters
    (Language.CHINESE, "供应商合同", 2),
    (Language.CHINESE, "部署为什么冻结", 3),
    (Language.JAPANESE, "請求書はいつ受け取る？", 0),
    (Language.JAPANESE, "データベースの移行先", 1),
    (Language.JAPANESE, "契約", 2),  # Han characters alone: Chinese or Japanese
    (Language.JAPANESE, "デプロイを止めた理由", 3),
    (Language.KOREAN, "청구서는 언제 받나요?", 0),
    (Language.KOREAN, "데이터베이스가 어디로 옮겨졌나요", 1),
    (Language.KOREAN, "공급업체 계약이 언제 끝나요?", 2),
    (Language.KOREAN, "배포를 멈춘 이유", 3),
)


@pytest.mark.parametrize(("language", "question", "memory"), QUESTIONS)
def test_a_memory_is_found_in_another_inflection(search, language, question, memory):
    best = search(MEMORIES[language], question)[0]
    assert best.id == f"{memory:03d}"
    assert best.score > 0


@pytest.mark.parametrize(("language", "question", "memory"), QUESTIONS)
def test_it_is_found_among_the_memories_of_all_languages(search, language, question, memory):
    every = [text for texts in MEMORIES.values() for text in texts]
    best = search(every, question)[0]
    # A Russian question may find the Ukrainian sentence that says the same in the same words.
    languages = CYRILLIC if language in CYRILLIC else (language,)
    same = {MEMORIES[each][memory] for each in languages}
    assert every[int(best.id)] in same


@pytest.mark.parametrize("language", [*LATIN, *CYRILLIC])  # of the others the script says it
def test_the_language_of_a_memory_is_guessed(language):
    guesses = [read_memory(memory).language for memory in MEMORIES[language]]
    assert guesses.count(language) >= 3, guesses


def test_function_words_alone_are_still_words(search):
    assert search(["To be or not to be", "Something else entirely"], "to be or not to be")[0].id == "000"
