import { renameColumns } from './csv-table.ts'
import type { Table } from './csv-table.ts'

/**
 * The column names of WooCommerce's product export in German, French, Spanish, Dutch and British English, from its language packs
 * (translate.wordpress.org, plugin WooCommerce). Several names: the packs changed over the years. `#` is a number, `*` is
 * a unit or a key.
 */
const names: Readonly<Record<string, readonly string[]>> = {
  Type: ['Typ', 'Tipo'],
  SKU: ['Artikelnummer', 'UGS'],
  'GTIN, UPC, EAN, or ISBN': [
    'GTIN, UPC, EAN oder ISBN',
    'GTIN, UPC, EAN ou ISBN',
    'GTIN, UPC, EAN o ISBN',
    'GTIN, UPC, EAN of ISBN'
  ],
  Name: ['Nom', 'Nombre', 'Naam'],
  Published: ['Veröffentlicht', 'Publié', 'Publicado', 'Gepubliceerd'],
  'Is featured?': ['Ist hervorgehoben?', 'Mis en avant ?', '¿Está destacado?', 'Uitgelicht?'],
  'Visibility in catalog': [
    'Visibility in catalogue',
    'Sichtbarkeit im Katalog',
    'Visibilité dans le catalogue',
    'Visibilidad en el catálogo',
    'Zichtbaarheid in catalogus'
  ],
  'Short description': [
    'Kurzbeschreibung',
    'Description courte',
    'Descripción corta',
    'Korte omschrijving',
    'Korte beschrijving'
  ],
  Description: ['Beschreibung', 'Descripción', 'Beschrijving'],
  'Date sale price starts': [
    'Datum, an dem Angebotspreis beginnt',
    'Datum, an dem der Angebotspreis beginnt',
    'Date de début de promo',
    'Día en que empieza el precio rebajado',
    'Startdatum actieprijs'
  ],
  'Date sale price ends': [
    'Datum, an dem Angebotspreis endet',
    'Datum, an dem der Angebotspreis endet',
    'Date de fin de promo',
    'Día en que termina el precio rebajado',
    'Einddatum actieprijs'
  ],
  'Tax status': ['Steuerstatus', 'État de la TVA', 'Estado del impuesto', 'Btw status'],
  'Tax class': ['Steuerklasse', 'Classe de TVA', 'Clase de impuesto', 'Belastingklasse'],
  'In stock?': ['Vorrätig?', 'En stock ?', '¿En inventario?', '¿Existencias?', 'Op voorraad?'],
  Stock: ['Lager', 'Bestand', 'Lagerbestand', 'Inventario', 'Voorraad'],
  'Low stock amount': ['Geringe Lagermenge', 'Montant de stock faible', 'Cantidad de bajo inventario', 'Lage voorraad'],
  'Backorders allowed?': [
    'Lieferrückstande erlaubt?',
    'Lieferrückstände erlaubt?',
    'Rückstände erlaubt?',
    'Autoriser les commandes de produits en rupture ?',
    '¿Permitir reservas de productos agotados?',
    'Nabestellingen toestaan?'
  ],
  'Sold individually?': [
    'Nur einzeln verkaufen?',
    'Vendre individuellement ?',
    '¿Vendido individualmente?',
    'Wordt individueel verkocht?'
  ],
  'Weight (*)': ['Gewicht (*)', 'Poids (*)', 'Peso (*)'],
  'Length (*)': ['Länge (*)', 'Longueur (*)', 'Longitud (*)', 'Lengte (*)'],
  'Width (*)': ['Breite (*)', 'Largeur (*)', 'Anchura (*)', 'Breedte (*)'],
  'Height (*)': ['Höhe (*)', 'Hauteur (*)', 'Altura (*)', 'Hoogte (*)'],
  'Allow customer reviews?': [
    'Kundenbewertungen erlauben?',
    'Kundenrezensionen erlauben?',
    'Autoriser les avis clients ?',
    '¿Permitir valoraciones de clientes?',
    'Klantbeoordelingen toestaan?'
  ],
  'Purchase note': ['Hinweis zum Kauf', 'Note de commande', 'Nota de compra', 'Aankoopnotitie'],
  'Sale price': ['Angebotspreis', 'Tarif promo', 'Precio rebajado', 'Actieprijs'],
  'Regular price': ['Regulärer Preis', 'Tarif régulier', 'Precio normal', 'Reguliere prijs'],
  Categories: ['Kategorien', 'Catégories', 'Categorías', 'Categorieën'],
  Tags: ['Schlagwörter', 'Étiquettes', 'Etiquetas'],
  'Shipping class': ['Versandklasse', 'Classe d’expédition', 'Clase de envío', 'Verzendklasse'],
  Images: ['Bilder', 'Imágenes', 'Afbeeldingen'],
  'Download limit': ['Downloadlimit', 'Limite de téléchargement', 'Límite de descargas', 'Downloadlimiet'],
  'Download expiry days': [
    'Ablauftage des Downloads',
    'Jours d’expiration du téléchargement',
    'Días de caducidad de la descarga',
    'Dagen vervaltijd download'
  ],
  Parent: ['Übergeordnetes Produkt', 'Superior', 'Hoofd'],
  'Grouped products': ['Gruppierte Produkte', 'Groupes de produits', 'Productos agrupados', 'Gegroepeerde producten'],
  Upsells: ['Zusatzverkäufe', 'Produits suggérés', 'Ventas dirigidas'],
  'Cross-sells': ['Cross-Sells (Querverkäufe)', 'Ventes croisées', 'Ventas cruzadas'],
  'External URL': ['Externe URL', 'URL externe', 'URL externa'],
  'Button text': ['Button-Text', 'Libellé du bouton', 'Texto del botón', 'Knop tekst'],
  Position: ['Posición', 'Positie'],
  Brands: ['Marken', 'Marques', 'Marcas', 'Merken'],
  'Attribute # name': ['Attribut # Name', 'Nom de l’attribut #', 'Nombre del atributo #', 'Naam eigenschap #'],
  'Attribute # value(s)': [
    'Attribut # Wert(e)',
    'Valeur(s) de l’attribut #',
    'Valor(es) del atributo #',
    'Waarde eigenschap #',
    'Waarde(n) eigenschap #'
  ],
  'Attribute # visible': ['Attribut # Sichtbar', 'Attribut # visible', 'Atributo visible #', 'Zichtbare eigenschap #'],
  'Attribute # global': ['Attribut # Global', 'Atributo global #', 'Globale eigenschap #'],
  'Attribute # default': [
    'Attribut # Standard',
    'Attribut # par défaut',
    'Atributo por defecto #',
    'Standaardeigenschap #'
  ],
  'Download # ID': ['#-ID herunterladen', 'ID de téléchargement #', 'ID de la descarga #', 'Download-#ID'],
  'Download # name': ['Nom de téléchargement #', 'Nombre de la descarga #', 'Naam download #'],
  'Download # URL': ['URL de téléchargement #', 'URL de la descarga #', 'URL download #'],
  'Meta: *': ['Méta : *']
}

const patterns = Object.entries(names).flatMap(([name, others]) =>
  others.map((other) => ({ name, pattern: patternOf(other) }))
)

/**
 * Gives the columns of a WooCommerce export in German, French, Spanish, Dutch or British English their American names.
 * Other columns keep theirs.
 */
export function toEnglishColumns(table: Table): Table {
  return renameColumns(table, (column) => {
    const plain = normalize(column)
    for (const { name, pattern } of patterns) {
      const match = pattern.exec(plain)
      if (match) return name.replace(/[#*]/, match[1] ?? '')
    }
    return column
  })
}

function patternOf(name: string): RegExp {
  const literal = normalize(name).replaceAll(/[()?.]/g, String.raw`\$&`)
  return new RegExp(`^${literal.replace(/[#*]/, '(.*)')}$`, 'iu')
}

/** Spaces and apostrophes in one form: a spreadsheet may have changed them. */
function normalize(name: string): string {
  return name.normalize('NFC').replaceAll(/\s+/g, ' ').replaceAll(/[’`]/g, "'").trim()
}
