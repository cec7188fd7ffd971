"""Spanish."""

from .language import Language, parts, words

_COMMON = words("""
a ahora al algo alguien algún alguna algunos allí anoche antes aquel aquella aquí así aún aunque ayer bastante bien bueno buena buenas buenos cada casi como
cómo con contra cosas cual cuando cuánto de del demasiado desde después día días dios donde dónde dos durante e el él ella ellas ellos
en encima entonces entre era es esa ese eso esta está estaba están estas este esto estos estoy estuve feliz fin fue fuera fuimos gracias ha
había hace hacia han hasta hay he hemos hola hoy igual incluso la las le les lo los luego mal mañana más me mejor menos mi mientras mis
mismo mucha mucho muchos mundo muy nada nadie necesito ni no noche nos nosotros notas nuestra nuestro nueva nuevo o ojalá otra otro otros para
pero poco por porque primero pues que qué querida querido quien quién quiero quizás se según sé ser si sí siempre sin sobre solo sólo son soy su sus también
tampoco tan tanto te tenemos tengo tenía tiene toda todas todavía todo todos tras tu tú un una uno unos vamos ver vez voy y ya yo
""")
_THINGS = words("""
lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre
diciembre navidad navidades nochebuena nochevieja reyes pascua semana santa año nuevo cuaresma carnaval halloween cumpleaños
inglés español alemán francés italiano portugués dios señor señora señorita virgen mamá papá abuela abuelo mami papi tía tío don doña sr sra dr dra
iva otan onu ue eeuu pdf dni tv covid itv ong gps wifi usb internet tierra barça madridista champions liga
""")
SPANISH = Language(
    "es",
    common=_COMMON,
    things=_THINGS,
    titles=words(
        "don doña sr sra srta señor señora señorita dr dra doctor doctora tío tía abuelo abuela profesor profesora primo prima padre"
    ),
    kinds={
        "proyecto": "project",
        **dict.fromkeys(
            (
                "asociación",
                "bar",
                "café",
                "restaurante",
                "hotel",
                "lago",
                "equipo",
                "club",
                "calle",
                "plaza",
                "familia",
                "grupo",
                "río",
            ),
            "topic",
        ),
    },
    with_people=words("con vi a conocí llamé visité a querida querido"),
    doing=words("""
    dijo dice contó cuenta preguntó pregunta llamó llama escribió escribe vino viene vinieron trajo trae rió sonrió propuso sugirió piensa pensó quiere
    quería ofreció mandó envió dio regaló visitó mudó vive cree sabe sabía ayudó conoció prometió explicó invitó cocinó insistió
    mencionó enseñó lloró besó abrazó casó recomendó respondió contestó juega jugó cantó prestó renunció cumple estudia trabaja
    me nos busca
    """),
    deeds=frozenset(),
    news=parts("""
    contó suger sugirió propuso propone decid acord prometi anunci hablamos explicó recomend mencion ofreci mudó
    muda mudar renunci despidi contrat ascendi jubil gradu empez lanz publica termina terminó cancel aplaz plazo
    vendi compró casó casar boda embaraz nació cumple divorci separó separar hospital operar operaron murió
    falleci trabaja estudia quiere planea alérgic arranc prefiere
    """),
    titled=words("leer leyendo leí leo releyendo vi viendo terminé termino escuché escuchando ver releí jugando"),
    to_places=words("en a desde hacia de"),
)
