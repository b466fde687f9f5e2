"""Function words by language: too common to find anything by, and the surest sign of which language a text is in."""

from collections.abc import Mapping
from types import MappingProxyType

from memwarden_policy.retrieval.language import Language

ENGLISH = """
a about above after again against all also am an and any are as at be because been before being below between both
but by can could d did didn do does doesn doing don down during each few for from further had has hasn have haven
having he her here hers herself him himself his how i if in into is isn it its itself just ll m me more most my
myself no nor not now of off on once only or other our ours ourselves out over own re s same she should shouldn so
some such t than that the their theirs them themselves then there these they this those through to too under until
up ve very was wasn we were weren what when where which while who whom whose why will with won would wouldn you your
yours yourself yourselves
"""
GERMAN = """
aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da damit dann das
dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine
einem einen einer eines er es etwas euch euer für gegen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn
ihnen ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jene jetzt kann kein keine keinem
keinen keiner können könnte man mein meine meinem meinen meiner mich mir mit muss musste nach nicht nichts noch nun
nur ob oder ohne sehr sein seine seinem seinen seiner selbst sich sie sind so solche soll sollte sondern sonst über
um und uns unser unsere unter vom von vor wann war waren warum was weg weil weiter welche welchem welchen welcher
welches wenn wer werde werden wie wieder will wir wird wirst wo woher wohin wurde wurden während zu zum zur zwar
zwischen
"""
CZECH = """
a aby aj ale ani asi až bez bude budou by byl byla byli bylo byly být co což či dnes do ho i já jak jako je jeho jej
její jejich jen jenž ještě ji jich jim jimi jiné jsem jsi jsme jsou jste k kam kde kdo kdy když ke kterou která
které který kterých která má mají máme mám mě mezi mi mít mně mnou moje můj může my na nad nám námi nás náš naše ne
nebo nebyl než ni nic ním o od ode on ona oni ono po pod podle pokud pouze pro proč proto protože první před přes
při s se si sice svá své svou svůj svých ta tak také takže tam tato te té tedy ten tento těch to tohle toho tohoto
tom tomu tomto toto tu tuto ty tyto u už v vám vámi vás váš ve více však všech vy z za zda zde ze že
"""
UKRAINIAN = """
а або адже але б без би бо був була були було бути в вам вами вас ваш ваша ваше ваші ви від він вже вона вони воно
все всі для до з за завжди зі й його йому із її їй їм їх і інший ж же ким кого коли кому котрий крім куди ледь лише
мене мені ми мій мною моя моє мої на навіть над нам нами нас наш наша наше наші не неї нею ні ній ніж ним ними них о
один одна ось при про під після саме свій своя своє своїх себе собі та так така таке такий такі також там те тебе ти
тим тих то тобі тобою того тоді той тому тут у хто це цей цим ця ці цього цьому чи чий чиї чого чому ще що щоб щодо
як яка яке який яким яких які якого якої якщо
"""
RUSSIAN = """
а без более больше бы был была были было быть в вам вами вас ваш ваша ваше ваши весь во вот все всего всех вы где да
даже для до его ее ей ему если есть еще же за здесь и из или им ими их к как какая какие какой какого когда которая
которые который кто куда ли либо мне мной мог мы на над надо нам нами нас наш наша наше наши не него нее ней нет ни
ними них но ну о об один она они оно от очень по под после потом потому при про раз с сам свой своя свои своих себя
сейчас со так также такой там тебе тебя тем теперь то тобой того тоже той только том тот ту ты у уже хотя чего чей
чем что чтобы чье чья эта эти это этого этой этом этот я
"""
ARABIC = """
في من على إلى عن مع هذا هذه ذلك تلك الذي التي الذين ما ماذا متى أين كيف لماذا هل من هو هي هم هن نحن أنا أنت أنتم كان
كانت كانوا يكون تكون أن إن لا لم لن قد ثم أو و ف ب ل ك بعد قبل عند كل بعض غير بين حتى إذا لكن لكنه كما أي أيضا هناك
هنا منذ خلال
"""
CHINESE = """
的 了 和 是 在 我 你 您 他 她 它 们 我们 你们 他们 她们 有 不 这 那 这个 那个 这些 那些 就 也 都 而 及 与 或 着 吗
呢 吧 啊 把 被 对 从 到 向 于 以 为 之 其 很 更 最 上 下 里 个 一个 什么 什么时候 哪 哪个 哪里 哪些 怎么 怎么样
为什么 谁 多少 几 会 要 能 可以
"""

STOPWORDS: Mapping[Language, frozenset[str]] = MappingProxyType(
    {
        Language.ENGLISH: frozenset(ENGLISH.split()),
        Language.GERMAN: frozenset(GERMAN.split()),
        Language.CZECH: frozenset(CZECH.split()),
        Language.UKRAINIAN: frozenset(UKRAINIAN.split()),
        Language.RUSSIAN: frozenset(RUSSIAN.split()),
        Language.ARABIC: frozenset(ARABIC.split()),
        Language.CHINESE: frozenset(CHINESE.split()),
    }
)

# A word of several languages speaks for each; a single letter ("a", "i", "o") is of too many to speak for any.
SPEAK_FOR: Mapping[str, tuple[Language, ...]] = MappingProxyType(
    {
        word: tuple(language for language, words in STOPWORDS.items() if word in words)
        for word in frozenset().union(*STOPWORDS.values())
        if len(word) > 1
    }
)
