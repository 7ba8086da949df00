"""What an attribute may be called elsewhere: in declarations of a page, in labels, in classes.

Readings:   An attribute belongs to the first entry of `MEANINGS` that has its name; one that is in
            none is called what its own name says. Properties are paths of schema.org, Open Graph
            and common meta tags, the most exact first. Labels are compared without case, colons
            and plural endings.
Cost:       Remembered for each name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

MIN_STEM_CHARS: Final = 3

# Names of attributes, then | properties, then | labels.
MEANINGS: Final = """
name productname title headline topic movietitle jobtitle thread subject
  | headline name title jobTitle og:title twitter:title dc.title
  | name title headline subject topic
price saleprice currentprice offerprice
  | offers.price price offers.lowPrice offers.priceSpecification.price product:price:amount
    og:price:amount product:sale_price:amount
  | price, our price, now, sale price, preis, prix, precio, cost, your price
regularprice listprice oldprice msrp
  | offers.highPrice product:original_price:amount
  | list price, regular price, was, rrp, msrp, old price, instead of, before
currency pricecurrency
  | offers.priceCurrency priceCurrency product:price:currency og:price:currency
  | currency
brand manufacturer maker
  | brand.name brand manufacturer.name manufacturer product:brand og:brand
  | brand, manufacturer, maker, by, marke, marque, hersteller
sku productid itemnumber articlenumber
  | sku productID product:retailer_item_id
  | sku, item number, item no, article number, article no, art no, product code, item, model no,
    code
mpn modelnumber model
  | mpn model
  | mpn, model, model number, part number
gtin ean upc barcode
  | gtin13 gtin gtin12 gtin14 gtin8 product:ean product:upc
  | gtin, ean, upc, barcode
isbn
  | isbn book:isbn
  | isbn, isbn-13, isbn-10
availability stock
  | offers.availability availability product:availability og:availability
  | availability, stock
ratingvalue rating score stars userrating
  | aggregateRating.ratingValue ratingValue reviewRating.ratingValue
  | rating, rated, score, stars, average rating, user rating, bewertung
reviewcount ratingcount reviews
  | aggregateRating.reviewCount aggregateRating.ratingCount reviewCount ratingCount
  | reviews, review, ratings, votes, customer reviews
commentcount comments
  | commentCount
  | comments, comment, kommentare
postcount replies replycount answercount
  | answerCount commentCount
  | replies, posts, post, reply, answers
viewcount views
  | interactionStatistic.userInteractionCount viewCount
  | views, view, visits, hits, reads, seen
color colour colors
  | color product:color
  | color, colour, farbe, couleur
size
  | size product:size
  | size, größe, taille
weight
  | weight.value weight product:weight:value
  | weight, gewicht, poids
material
  | material product:material
  | material, fabric
condition itemcondition
  | offers.itemCondition itemCondition product:condition
  | condition
mainimage image photo picture thumbnail thumbnailurl primaryimage
  | image.url image og:image og:image:url twitter:image thumbnailUrl
  | image, photo
images photos gallery
  | image.url image og:image
  | images, photos
description summary abstract lead teaser synopsis plot
  | description og:description description twitter:description dc.description abstract
  | description, summary, about, overview, synopsis, beschreibung, product description, lead, intro,
    introduction, standfirst, teaser, abstract
articlebody body text content jobdescription
  | articleBody text reviewBody
  | article, text
authors author byline writer postedby creator
  | author.name author creator.name creator article:author dc.creator byl parsely-author
  | author, by, written by, posted by, autor, auteur, von, started by, authors, writer
datepublished date published posted publishdate dateposted postdate
  | datePublished datePosted uploadDate dateCreated article:published_time og:article:published_time
    dc.date date pubdate publish-date
  | published, date, posted, posted on, date posted, published on, datum, veröffentlicht, started,
    added, post date
datemodified updated modified lastupdated
  | dateModified article:modified_time og:updated_time last-modified
  | updated, modified, last updated, last modified
section category board genre topicarea articlesection department industry
  | articleSection category genre article:section industry product:category
  | section, category, genre, board, forum, department, industry, rubrik, filed under, kategorie,
    genres, type
keywords tags
  | keywords article:tag news_keywords
  | keywords, tags, tagged, topics, tag, schlagworte
breadcrumbs breadcrumb
  | breadcrumb.itemListElement.name itemListElement.name itemListElement.item.name
  | you are here
telephone phone phonenumber tel
  | telephone contactPoint.telephone business:contact_data:phone_number og:phone_number
  | phone, telephone, tel, call, phone number, telefon, call us, téléphone
faxnumber fax
  | faxNumber business:contact_data:fax_number og:fax_number
  | fax, fax number, telefax
email emailaddress
  | email og:email
  | email, e-mail, mail
website url homepage companyurl sameas
  | url sameAs og:url
  | website, web, web site, homepage, site, url, internet
streetaddress street address
  | address.streetAddress location.address.streetAddress streetAddress
    business:contact_data:street_address og:street-address
  | address, street, street address, adresse, anschrift
addresslocality city town locality
  | address.addressLocality location.address.addressLocality jobLocation.address.addressLocality
    addressLocality business:contact_data:locality og:locality
  | city, town, locality, ort
addressregion state region province
  | address.addressRegion jobLocation.address.addressRegion addressRegion
    business:contact_data:region og:region
  | state, region, province
postalcode zip zipcode postcode
  | address.postalCode jobLocation.address.postalCode postalCode business:contact_data:postal_code
    og:postal-code
  | zip, zip code, postal code, postcode, plz
addresscountry country
  | address.addressCountry.name address.addressCountry addressCountry
    business:contact_data:country_name og:country-name
  | country, land
location joblocation place
  | jobLocation.address.addressLocality location.name location
  | location, where, place, job location
openinghours hours
  | openingHours openingHoursSpecification
  | hours, opening hours, open, business hours, öffnungszeiten
paymentaccepted payment payments
  | paymentAccepted
  | payment, payments, we accept, payment methods, payment accepted, cards
company hiringorganization employer organization seller
  | hiringOrganization.name hiringOrganization seller.name offers.seller.name
  | company, employer, organization, sold by, seller
salary basesalary pay wage
  | baseSalary.value.value baseSalary.value.minValue baseSalary estimatedSalary
  | salary, pay, wage, compensation, pay rate
employmenttype jobtype
  | employmentType
  | employment type, job type, type, position type
director directors directedby
  | director.name director video:director
  | director, directors, directed by, regie
actor actors cast starring
  | actor.name actor actors.name video:actor
  | cast, actors, actor, starring, stars
duration runtime length
  | duration video:duration
  | duration, runtime, running time, length
contentrating mpaarating mpaa certificate rated
  | contentRating
  | rated, mpaa rating, certificate, content rating, rating
releasedate released year
  | releaseDate datePublished video:release_date
  | released, release date, year
publisher
  | publisher.name publisher
  | publisher, verlag
numberofpages pages pagecount
  | numberOfPages
  | pages, number of pages
language inlanguage
  | inLanguage og:locale
  | language, sprache
bedrooms numberofbedrooms
  | numberOfBedrooms numberOfRooms
  | bedrooms, beds, bedroom
bathrooms numberofbathrooms numberofbathroomstotal
  | numberOfBathroomsTotal numberOfFullBathrooms
  | bathrooms, baths, bathroom
area floorsize livingarea
  | floorSize.value floorSize
  | area, floor size, living area, square feet, size
solvedby acceptedanswerby
  | acceptedAnswer.author.name
  | solved by, accepted answer by, answered by
features amenities
  | amenityFeature.name additionalProperty.value
  | features, amenities
birthdate born dateofbirth
  | birthDate
  | born, birth date, date of birth
affiliation worksfor
  | affiliation.name worksFor.name
  | affiliation, works for
type kind
  | additionalType
  | type, kind
"""

# What attributes of these meanings are, where the vertical calls them texts.
IMPLIED: Final = {
    "offers.price": "price",
    "offers.highPrice": "price",
    "datePublished": "date",
    "dateModified": "date",
    "telephone": "phone",
    "faxNumber": "phone",
    "image.url": "image",
    "aggregateRating.reviewCount": "number",
    "commentCount": "number",
    "interactionStatistic.userInteractionCount": "number",
    "url": "url",
}
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]\w*")
_NOT_LABEL = re.compile(r"[^\w\s&'-]+")
_TITLES = frozenset(
    {"name", "title", "headline", "topic", "productname", "movietitle", "jobtitle", "subject"}
)


class Meaning(NamedTuple):
    """What an attribute is called elsewhere."""

    properties: tuple[str, ...]  # the most exact first
    labels: frozenset[str]
    is_title: bool  # whether it names what the page is about
    key: str  # the same for attributes that mean the same


# Saves 30 % of suggesting values: 99.8 % hits (benchmarks.caches).
@lru_cache(maxsize=2048)
def meaning_of(attribute: str) -> Meaning:
    """Return what an attribute may be called.

    >>> meaning_of("faxNumber").properties[0], "fax" in meaning_of("fax_number").labels
    ('faxNumber', True)
    """
    words = words_of(attribute)
    key = "".join(words)
    for names, properties, labels in _entries():
        if key in names:
            own = frozenset({" ".join(words), *labels})
            paths = tuple(dict.fromkeys((*properties, attribute)))
            return Meaning(paths, _stems(own), key in _TITLES, properties[0])
    return Meaning((attribute,), _stems(frozenset({" ".join(words)})), key in _TITLES, key)


def implied_type(attribute: str, given: str) -> str:
    """Return the type of an attribute: the given one, or what its name says where that is a text.

    >>> implied_type("telephone", "text"), implied_type("telephone", "html")
    ('phone', 'html')
    """
    return IMPLIED.get(meaning_of(attribute).key, given) if given == "text" else given


# Saves 1 % of suggesting values: 99.8 % hits (benchmarks.caches).
@lru_cache(maxsize=65536)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name, small.

    >>> words_of("ratingValue"), words_of("item_prop-SKU")
    (('rating', 'value'), ('item', 'prop', 'sku'))
    """
    return tuple(word.lower() for word in _WORDS.findall(name))


# Saves 2 % of suggesting values: 98 % hits (benchmarks.caches).
@lru_cache(maxsize=65536)
def label_key(text: str) -> str:
    """Return a label as labels are compared.

    >>> label_key(" Our  Prices: "), label_key("E-Mail")
    ('our price', 'e-mail')
    """
    words = _NOT_LABEL.sub(" ", text.lower()).split()
    return " ".join([*words[:-1], _stem(words[-1])]) if words else ""


# Saves 0.5 % of suggesting values: 98 % hits (benchmarks.caches).
@lru_cache(maxsize=65536)
def names_it(labels: frozenset[str], words: tuple[str, ...]) -> float:
    """Return how well the words of a class or an id name a label: 1 where they are one, else less.

    >>> [names_it(frozenset({"price"}), words) for words in [("price",), ("product", "price")]]
    [1.0, 0.7]
    """
    if not words:
        return 0.0
    stems = [*words[:-1], _stem(words[-1])]
    if " ".join(stems) in labels or "".join(stems) in labels:
        return 1.0
    if len(stems) > 1 and (stems[-1] in labels or " ".join(stems[-2:]) in labels):
        return 0.7
    return 0.0


def _stems(labels: frozenset[str]) -> frozenset[str]:
    keys = (label_key(label) for label in labels)
    return frozenset(key for key in keys if key)


def _stem(word: str) -> str:
    is_plural = word.endswith("s") and not word.endswith("ss")
    return word[:-1] if is_plural and len(word) > MIN_STEM_CHARS else word


def _entries() -> list[tuple[frozenset[str], tuple[str, ...], frozenset[str]]]:
    entries = []
    for line in re.split(r"\n(?! )", MEANINGS.strip()):
        names, properties, labels = line.split("|")
        label_words = frozenset(" ".join(label.split()) for label in labels.split(","))
        entries.append((frozenset(names.split()), tuple(properties.split()), label_words))
    return entries
