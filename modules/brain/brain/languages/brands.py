"""Things that are bought and used by everybody: nobody keeps notes about them."""

from .language import words

BRANDS = words("""
adidas airbnb alexa aldi amazon android apple audible audi bbc bing blackberry bluetooth bmw booking canva chatgpt chrome claude coca coke cola deepl
discord disney dm dropbox duolingo ebay edeka excel facebook facetime fanta fedora figma firefox fitbit ford garmin github glovo gmail google gpt h&m
hbo honda ibm icloud ikea imessage instagram ios ipad iphone ipod itunes kfc kindle lego lenovo lidl linkedin linux macbook macos mastercard
mcdonald's mcdonalds mercadona mercedes messenger microsoft myspace nescafé nestlé netflix nike nintendo nivea nokia notion nutella obsidian openai outlook paypal
penny pepsi pinterest playstation porsche powerpoint prime reddit renfe rewe rossmann samsung seat signal siri skype slack snapchat sony spotify starbucks
steam switch target teams tesla threads tiktok tinder toyota trello twitch twitter uber ubuntu vinted visa volkswagen vw walmart whatsapp wikipedia
windows word xbox xerox yahoo youtube zalando zara zoom
""")
