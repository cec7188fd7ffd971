"""German, whose nouns are written like names."""

from .language import Language, parts, words

_COMMON = words("""
aber abends alle allein alles als also am an auch auf aus bald bei beim bin bis bisschen da dabei damit danach
dann daran das dass davon dazu dein dem den denn der des die dies diese diesem diesen dieser dieses doch dort
draußen drei drinnen du durch eigentlich ein eine einem einen einer eines endlich er erst es etwas euch euer fast
für ganz gar gegen genug gern gestern gibt guten gute gut gerade hab habe haben hallo hat hatte hätte hatten heute
hier hin hinter ich ihm ihn ihr ihre im immer in ins ist ja jede jeder jedes jemand jetzt kann kein keine keinen
lange langes leider liebe lieber man manchmal mehr mein meine meinem meinen mich mir mit mittags morgen morgens
muss musste nach nachmittags nachts nein neue nicht nichts nie niemand noch nun nur ob oder oft ohne schon sehr
sein seine seit selbst sich sie sind so sogar soll sonst später spät trotzdem über überall um und uns unser unter
viel viele vielleicht vier vom von vor vormittags war waren warum was wegen weil wenig wenn wer werde wie wieder
wir wird wirklich wo wohl zu zuerst zum zur zurück zusammen zwei zwischen große
""")
_THINGS = words("""
abend abendessen abschied absage abstand angst appetit arbeit ärger arzt aufgabe auto bahn bier bild blume brief
brot buch büro bus chef computer dank danke durst ecke ei eier eile eis ende erfolg essen familie fehler feierabend
ferien feuer fieber film fisch flasche fleisch frage frau freude freund freunde freundin freunden frieden frühling
frühstück fuß garten gast gäste geburtstag gedanke gedanken geduld gefühl geist geld gemüse genuss geschenk gesicht
glas glück gruß haus hause hand heimweh herbst herr herz hilfe himmel hitze hund hunger husten idee jahr jahre
kaffee kälte katze kind kinder kollege kollegen kopf kraft kuchen küche kurs laune leben lehrer leiter leute licht
liebe lied lust mama mann meer mensch menschen mieter milch mitte mittag monat mühe musik mutter nacht natur nudeln
obst oma opa onkel papa park pause post rad ruhe salat schlaf schmerz schnee schule schulter sofa sommer sonne
sorgen spaß spiel sport stadt strand stress stück stunde suppe tag tage tante tasse team tee tisch treffen uhr
urlaub vater verein versehen vertrauen wald wäsche wasser weg wein welt wetter wind winter woche wochenende wohnung
wort yoga zeit zimmer zucker zug zukunft zusage zuversicht zweifel
""")
_DATES = words("""
montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz april mai juni juli august september oktober november
dezember weihnachten heiligabend silvester ostern pfingsten advent nikolaus fasching karneval neujahr halloween deutsch englisch französisch
spanisch italienisch portugiesisch russisch türkisch polnisch latein gott jesus mami mutti papi vati omi opi tüv adac pdf dhl tv
eltern geschwister schwester bruder sohn tochter nachbarn nachbar mädchen junge jungen behörden handwerkern handwerker feier serie
""")
GERMAN = Language(
    "de",
    common=_COMMON,
    things=_THINGS | _DATES,
    titles=words(
        "herr herrn frau dr prof doktor professor onkel tante oma opa cousin cousine bruder schwester freundin kollege kollegin nachbar nachbarin trainer"
    ),
    kinds={
        "projekt": "project",
        **dict.fromkeys(
            (
                "café",
                "restaurant",
                "hotel",
                "verein",
                "firma",
                "familie",
                "stadt",
                "band",
                "gruppe",
                "kneipe",
                "bar",
                "dorf",
                "insel",
                "schloss",
            ),
            "topic",
        ),
    },
    with_people=words(
        "mit bei an von für ohne habe hab haben hatte treffe traf sehe sah besuche besuchte frage fragte rufe rief"
    ),
    doing=words("""
    sagt sagte erzählt erzählte meint meinte schreibt schrieb fragt fragte ruft rief lacht lachte will wollte möchte wohnt wohnte arbeitet
    zieht zog besucht besuchte hilft half schenkt schenkte brachte bringt glaubt glaubte findet fand denkt dachte studiert heiratet weiß
    wusste mag liebt hasst kündigt weint weinte antwortet antwortete schickt schickte schlägt schlug kocht kochte singt spielt
    """),
    deeds=words("""
    getroffen gesprochen telefoniert gestritten geredet besucht verabredet diskutiert kennengelernt eingeladen gefragt angerufen geholfen
    abgeholt gratuliert vermisst erzählt gesagt geschrieben gezogen umgezogen geheiratet gekündigt gemeint geküsst umarmt besuche treffe
    gegessen frage schreibt sagt
    """),
    news=parts("""
    erzähl vorgeschlag schlägt schlug entschied entschloss beschloss vereinbar verspr angekündigt besproch
    besprach erklär empfiehl empfohl empfahl erwähn angeboten zieht gezogen umgezogen kündig gekündigt
    eingestellt befördert rente abschluss angefangen fängt fing begonnen veröffentlich fertig abgesagt
    verschoben frist verkauf gekauft heirat geheiratet verlobt hochzeit schwanger geboren geburtstag getrennt
    scheid krankenhaus operi diagnos gestorben beerdigung arbeitet studiert plant möchte allerg voran
    """),
    titled=words("gelesen lese las weitergelesen gesehen geschaut gehört gespielt lesen"),
    meetings=words(
        "treffen telefonat gespräch spaziergang konzert essen abendessen mittagessen frühstück streit abend nachmittag verabredung danke"
    ),
    to_places=words("nach in aus"),
    journeys=words("""
    gefahren gezogen geflogen gereist fahren fahre ziehen ziehe fliegen fliege reise ausflug zug wohnt wohne lebt lebe angekommen gelandet arbeitet
    besuche besucht umgezogen umziehen zieht schrieb
    """),
    determiners=words("""
    der die das des dem den ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem meiner dein deine sein
    seine seinen seinem ihr ihre ihren ihrem unser unsere unseren im am zum zur beim vom ins ans aufs diese dieser dieses diesen diesem jede jeder
    jedes jeden jedem welche viel viele mehr weniger wenig genug alle allen einige etwas nächste letzte letzten
    """),
    endings=parts("""
    ung ungen heit heiten keit keiten schaft schaften tion tionen sion tät täten ling linge chen lein nis nisse
    tum ismus ment anz enz zeug schule zeit rei reien schmerzen schmerz essen tag karten arbeiten schicht schirm
    versuch fall gang bruch schluss druck stück werk haus buch
    """),
    nouns_are_large=True,
)
