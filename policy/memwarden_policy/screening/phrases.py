"""Stock phrases by which a text speaks to an agent instead of stating a fact, in eight languages; lower case."""

from collections.abc import Callable

import re2

from memwarden_policy.redaction import finders
from memwarden_policy.screening.model import SignalKind

TAKE_BACK = (
    # English
    r"(?:ignore|disregard|forget|override|bypass|discard|do not follow|don't follow|stop following|pay no attention to)"
    r" (?:(?:the|of|my|other) ){0,2}(?:all|any|every|your|previous|prior|earlier|above|preceding|system|safety|these|existing)"
    r" (?:[a-z-]+ ){0,4}?(?:instructions?|prompts?|rules|guidelines|directives|commands|policies|guardrails|restrictions|training)\b",
    r"(?:ignore|disregard|forget) (?:everything|anything|all|what)(?: that)?(?: was| is| you were| you have been| i)? (?:above|before|told|said|previously)",
    r"(?:reveal|print|show|repeat|output|leak|disclose) (?:me )?(?:your|the) (?:full |hidden |initial |original )?(?:system|developer|hidden) (?:prompt|instructions|message)",
    r"do(?: not|n't) (?:tell|inform|mention (?:this|it) to|reveal (?:this|it) to|alert|notify|warn) (?:the |any |your )?(?:user|human|owner|anyone|operator|admin|customer)",
    r"(?:send|forward|post|upload|exfiltrate|e-?mail|copy|leak) (?:(?:all|the|any|every|your|their|his|her|this|me|of|user'?s?) ){0,4}"
    r"(?:conversations?|credentials?|passwords?|secrets?|api keys?|tokens?|chat(?: history)?|memories|user data|private (?:data|files?)) (?:to|at|via) ",
    r"<\|(?:im_start|im_end|system|endoftext)\|>|\[/?inst\]|<</?sys>>|</?(?:system|instructions?)>|#{2,} ?(?:system|new) (?:prompt|instructions?)\b|"
    r"(?:new|updated|additional|real|actual) (?:system )?instructions? ?(?:for you ?)?:|system (?:prompt|message|override) ?:|end of (?:system )?(?:prompt|context)\b",
    r"you are (?:now|no longer) (?:an? |the |in |dan\b|free|bound|restricted|unrestricted|a)|from now on,? (?:you (?:are|will|must|should)|ignore|obey)|"
    r"(?:pretend|act as if) (?:that )?you (?:are|have)|developer mode (?:is )?(?:on|enabled|activated)|jailbreak mode",
    r"(?:ignore|disregard|forget)(?:all|any|the|your|every)?(?:previous|prior|above|earlier)(?:instructions?|rules|prompts?)",
    # German
    r"(?:ignorier|missacht|vergiss|vergess|überschreib|umgeh|übergeh)[a-z]* (?:sie )?(?:bitte )?(?:[a-zäöüß]+ ){0,4}?(?:anweisung|instruktion|regel|vorgabe|befehl|richtlinie|prompt)",
    r"ab (?:jetzt|sofort|nun) (?:bist du|sind sie|musst du|antworte|wirst du|sollst du)|du bist (?:jetzt|nun|ab sofort|von nun an) |"
    r"(?:sag|erzähl|verrat|melde)[a-z]* (?:es |das |dies )?(?:dem|der|den) (?:nutzer|benutzer|anwender|kunden)[a-z]* nicht",
    # Ukrainian and Russian
    r"(?:ігнору|проігнору|забуд|не зважай|відкинь|игнориру|проигнориру|не обращай внимания|отбрось|пренебрег)[^\s]*(?: на)? (?:[^\s.]+ ){0,4}?(?:інструкці|правил|вказівк|підказ|настанов|инструкци|указани|команд|промпт)",
    r"(?:відтепер|тепер|з цього моменту|отныне|теперь|с этого момента) (?:ти|ви|ты|вы) (?:є |—|- |не |маєш|повинен|мусиш|должен|будеш|будешь|адмін|админ|без)",
    r"не (?:кажи|повідомляй|розповідай|говори|сообщай|рассказывай) (?:про це |об этом )?(?:нічого |ничего )?(?:користувач|пользовател)",
    # Spanish and French
    r"(?:ignor|olvid|descart|omit)[a-z]* (?:(?:todas?|todos?|las|los|tus|sus|cualquier) ){1,4}(?:[a-zñ]+ )?(?:instrucciones|reglas|indicaciones|órdenes|directrices)|haz caso omiso",
    r"(?:a partir de|desde) ahora,? (?:eres|debes|tienes|responde|vas|actúa)|ahora eres (?:un|una|el|la) |no (?:le |se lo )?(?:digas|informes|cuentes|menciones) (?:nada |esto )?(?:al|a los|a la) usuari",
    r"(?:ignore|oublie)[rz]? (?:toutes? )?(?:les|tes|vos) (?:instructions|consignes|règles)|à partir de maintenant,? tu es",
    # Chinese, Japanese, Korean
    r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|忽視)[^。\n]{0,12}(?:指令|指示|提示|规则|規則|说明|命令|要求)|从现在(?:开始|起)[,，]?你|從現在(?:開始|起)[,，]?你|你现在是一个|不要告诉用户|不要告訴用戶",
    r"(?:指示|命令|ルール|プロンプト|規則)[^。\n]{0,8}(?:無視|忘れ)|(?:今から|これから)(?:あなた|君)は|ユーザーに(?:は)?(?:言わ|伝え|知らせ)ない",
    r"(?:지시|명령|규칙|지침|프롬프트)[^.\n]{0,8}(?:무시|잊)|(?:이제부터|지금부터) (?:너는|당신은|넌)|사용자에게[^.\n]{0,6}(?:말하지|알리지)",
)
SPEAKS_TO_AGENTS = (
    r"(?:important|attention|notice|note|instructions?|message|dear|hey|hello)[,:]? (?:(?:for|to|all|the|any) ){0,2}(?:ai|llms?|assistants?|(?:ai )?agents?|language models?|claude|chatgpt|gpt|gemini|copilot)\b ?[,:!]",
    r"(?:^|[.!?:;\n\"] ?)(?:you|the (?:assistant|agent|ai|model)) (?:must|shall|have to|need to|are required to) (?:always|never|now|immediately|only|first|not)\b",
    r"(?:^|[.!?:;\n\"] ?)always (?:recommend|approve|trust|redirect|forward|transfer|whitelist|prefer to recommend|reply with|respond with|answer with)\b",
    r"when(?:ever)? (?:the|a|any) user (?:asks|mentions|wants|says|requests)[^.\n]{0,80},? (?:always|instead|you must|secretly|silently)",
    r"(?:call|use|invoke|run|execute) the [a-z_]+ (?:tool|function) (?:to|with|and) (?:send|transfer|delete|drop|share|grant|disable|export|wire)",
    r"(?:transfer|wire|send) (?:all )?(?:the )?(?:funds|money|bitcoin|payments?) to (?:this |the following |account |iban |wallet )",
    r"(?:disable|turn off|skip|bypass) (?:all |the |any )?(?:safety|security|audit|logging|policy|confirmation|review)(?: checks?| steps?| filters?)? (?:for|when|and|before)",
    r"(?:wichtig|achtung|hinweis)[a-z]*[,:]? (?:für|an) (?:die |den |das |alle )?(?:ki|assistent|agent|sprachmodell)",
    r"(?:увага|важливо|внимание|важно)[^.\n]{0,12}(?:асистент|агент|ші\b|ассистент|ии\b|модел)|importante[^.\n]{0,12}(?:asistente|agente|ia\b|modelo)",
    r"(?:重要|注意)[^。\n]{0,8}(?:助手|智能体|模型|アシスタント|エージェント)|(?:중요|주의)[^.\n]{0,8}(?:어시스턴트|에이전트|모델)",
)
PERMISSION = (
    r"(?:admin(?:istrator)?s?|owner|manager|ceo|cto|boss|security team|platform team|operator|supervisor|management|it department|compliance|user)"
    r" (?:(?:has|have|had|already|just|previously|explicitly|fully) ){0,3}(?:approved|authori[sz]ed|permitted|allowed|granted|signed off on|consented to|whitelisted|cleared)"
    r" (?:this|it|access|full|all|any|you|me|us|these|sharing|sending|skipping|bypassing|unrestricted|the (?:use|request|action|transfer|deletion|export|override|exception|disclosure))\b",
    r"you(?: are|'re) (?:(?:now|hereby|fully|already) )?(?:authori[sz]ed|permitted|cleared|allowed) to |(?:pre-?|already )approved by (?:the )?(?:admin|owner|manager|ceo|security|management)",
    r"i (?:have|was given|was granted) (?:admin|root|full|unrestricted|owner) (?:access|rights|permissions?|privileges)|no (?:further |additional )?(?:approval|confirmation) (?:is )?(?:needed|required) (?:for|from) (?:you|me|this|now)",
    r"(?:administrator|admin|chef|geschäftsführer|eigentümer|vorgesetzte)[a-z]* hat (?:das|dies|es|dir|den zugriff|alles) (?:bereits |schon )?(?:genehmigt|erlaubt|freigegeben|autorisiert)",
    r"(?:адміністратор|власник|керівник|администратор|владелец|руководитель|начальник)[^\s]* (?:вже |уже )?(?:це |это )?(?:схвалив|дозволив|підтвердив|одобрил|разрешил|подтвердил)",
    r"(?:administrador|jefe|dueño|propietario|gerente)a? (?:ya )?(?:(?:lo|la) (?:ha )?(?:aprobó|aprobado|autorizó|autorizado|permitió|permitido)|(?:ha )?(?:aprobó|aprobado|autorizó|autorizado|permitió|permitido) (?:esto|todo|el acceso|el uso))",
    r"(?:管理员|管理員|老板|主管)(?:已经|已經|已)?(?:批准|授权|授權|同意|允许|允許)|管理者(?:が|は|から)[^。\n]{0,10}(?:承認|許可)|관리자(?:가|는)[^.\n]{0,10}(?:승인|허가|허락)",
)
FOR_LATER = (
    r"(?:remember|memori[sz]e|keep in mind|store|save|retain) (?:this|that|the following|it)\b[^.\n]{0,40}(?:later|future|next (?:time|session|conversation)|long-?term|permanently|forever|from now on|memory)",
    r"(?:^|[.!?:\n] ?)(?:please )?(?:remember|memori[sz]e) (?:that|this|to|the following)\b|(?:add|write|save|store|commit) (?:this |it |the following )?(?:in|into|to) (?:your |the |long-?term ){1,2}memory|update your (?:long-?term )?memory",
    r"in (?:all |every |any )?(?:future|later|subsequent) (?:sessions?|conversations?|chats?|interactions?),? (?:you|always|never|use|reply|recommend|treat)",
    r"merke? (?:dir|es dir)|für (?:später|künftige) (?:merken|gespräche)|запам[’'ʼ]ятай|запомни|recuerda (?:esto|que|siempre)|guarda esto",
    r"(?:请|請|要)?(?:记住|記住|牢记|牢記)|覚えておいて|記憶して|기억해",
)
IDENTITY = (
    r"(?:i am|i'm|my name is|call me|you are talking to|you are speaking (?:to|with)|speaking as|i have become|i was promoted to) (?:now )?(?:(?:the|your|an?|new|acting|system) ){0,3}"
    r"(?:admin(?:istrator)?|root|owner|ceo|cto|cfo|supervisor|superuser|operator|moderator|auditor|developer of (?:this|you)|security (?:officer|team))\b",
    r"my (?:new )?(?:role|title|permissions?|access level|identity) (?:is now|has changed to|was changed to|changed to|is)\b|(?:user'?s?|person'?s?) (?:role|identity|permission level) (?:is now|has changed|was changed)",
    r"(?:treat|consider|regard) (?:me|this user|the user|the sender|[a-z]+) as (?:(?:an?|the|fully) ){0,2}(?:admin(?:istrator)?|owner|root|trusted|superuser|verified)\b",
    r"(?:is|are) (?:now|actually|really) (?:(?:the|an?|new) ){0,2}(?:admin(?:istrator)?|root|superuser|system owner)\b",
    r"ich bin (?:(?:jetzt|nun|der|die|ein|eine|neue|neuer|dein|euer) ){0,3}(?:administrator|admin|chef|geschäftsführer|inhaber|systembetreuer)",
    r"\bя (?:(?:тепер|теперь|ваш|твій|твой|новий|новый) ?){0,2}(?:—|-)? ?(?:адміністратор|администратор|власник|владелец|директор|начальник)",
    r"soy (?:(?:ahora|el|la|tu|su|un|una|nuevo|nueva) ){0,3}(?:administrador|dueñ|jef|director|propietari)",
    r"我(?:现在|現在)?是(?:新的?|你的|系统|系統)?(?:管理员|管理員|老板|主管)|私は(?:新しい|あなたの)?(?:管理者|社長|上司)|(?:저는|나는|내가)[^.\n]{0,6}(?:관리자|사장|대표)",
)
PHRASES: dict[SignalKind, tuple[str, ...]] = {
    SignalKind.OVERRIDE: TAKE_BACK,
    SignalKind.INSTRUCTION: SPEAKS_TO_AGENTS,
    SignalKind.CLAIMED_PERMISSION: PERMISSION,
    SignalKind.DEFERRED: FOR_LATER,
    SignalKind.IDENTITY_CHANGE: IDENTITY,
}


def search() -> Callable[[bytes], set[SignalKind]]:
    """Return a question to a text in lower case, answered in time linear in it: which kinds of phrases does it hold?"""
    together = [(kind, phrase) for kind, phrases in PHRASES.items() for phrase in phrases]
    likely = finders.likely([phrase for _, phrase in together])
    confirming = [(kind, re2.compile(phrase.encode())) for kind, phrase in together]

    def kinds_in(text: bytes) -> set[SignalKind]:
        asked = (confirming[index] for index in likely(text))
        return {kind for kind, expression in asked if expression.search(text)}

    return kinds_in
