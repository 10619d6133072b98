import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/errors.ts'
import { readCatalogFile } from '../../../../src/shop/catalog/import/read-file.ts'
import type { ReadOptions } from '../../../../src/shop/catalog/import/read-file.ts'
import { csv, errorsOf, outcomeOf, read } from './support.ts'

function readExport(name: string, options: Partial<ReadOptions> = {}) {
  const content = readFileSync(new URL(`exports/${name}`, import.meta.url))
  return readCatalogFile(content, { currency: 'EUR', timeZone: 'UTC', ...options })
}

const languages = [
  ['de', 'Becher „Blau“', 'Handgemacht in Köln.', 'Küche > Tassen', 'Töpferei Müller', 'Größe', 'Farbe'],
  ['fr', 'Tasse « Bleue »', 'Fait main à Nîmes.', 'Cuisine > Tasses', 'Poterie Lefèvre', 'Taille', 'Couleur'],
  ['es', 'Taza «Azul»', 'Hecho a mano en Cádiz.', 'Cocina > Tazas', 'Alfarería Núñez', 'Tamaño', 'Color'],
  ['nl', 'Kopje ‘Blauw’', 'Met de hand gemaakt in Goirle.', 'Keuken > Kopjes', 'Pottenbakkerij Daniël', 'Maat', 'Kleur']
] as const

describe('a WooCommerce export in another language', () => {
  it.each(languages)('(%s) is read with all its columns', (language, name, text, category, brand, size, colour) => {
    const { file, report } = readExport(`woocommerce-${language}.csv`)
    const [cup, shirt, unpriced, draft] = file.products
    expect(cup).toMatchObject({
      slug: 'cup-1',
      sku: 'CUP-1',
      name,
      description: expect.stringContaining(text),
      descriptionHtml: expect.stringContaining('<li>'),
      priceMinor: 1850,
      salePriceMinor: 1490,
      stock: 12,
      weightGrams: 350,
      taxClass: 'reduced',
      lengthMm: 80,
      widthMm: 80,
      heightMm: 95,
      brand,
      gtin: '4006381333931',
      seoTitle: `${name} | Shop`,
      categories: [category],
      images: [{ src: 'https://shop.example/wp-content/uploads/cup.jpg', alt: '' }]
    })
    expect(shirt?.weightGrams).toBeNull()
    expect(shirt?.variations?.map(({ weightGrams }) => weightGrams)).toEqual([200, 200, 200, 250])
    const [red, blue] = [shirt?.variations?.[0], shirt?.variations?.at(-1)]
    expect(Object.keys(red?.options ?? {})).toEqual([size, colour])
    expect(shirt?.variations?.map(({ options, stock, priceMinor }) => [options[size], stock, priceMinor])).toEqual([
      ['S', 3, 3900],
      ['M', 2, 3900],
      ['L', 2, 3900],
      ['M', null, 4100]
    ])
    expect(blue?.options[colour]).not.toBe(red?.options[colour])
    expect(shirt?.variations?.find(({ isDefault }) => isDefault)?.options[size]).toBe('M')
    expect(unpriced).toMatchObject({ unpriced: true, priceMinor: 0 })
    expect(draft).toMatchObject({ published: false, stock: null })
    expect(report.format).toBe('woocommerce')
    expect(report.unpublished.map(({ count }) => count)).toEqual([1, 1])
  })

  it('reports errors and left out columns by the names in the file', () => {
    const header = 'Typ;Artikelnummer;Name;Regulärer Preis;Versandklasse\n'
    expect(errorsOf(`${header}simple;cup;Becher;viel;\n`)).toMatchObject([{ line: 2, column: 'Regulärer Preis' }])
    expect(read(`${header}simple;cup;Becher;3,50;Paket\n`).report.ignored).toMatchObject([{ column: 'Versandklasse' }])
  })
})

describe("Shopify's export with every column", () => {
  const { file, report } = readExport('shopify.csv')
  const [shirt, kit] = file.products

  it('keeps options, pictures of variants, weight, codes, brand and texts for search engines', () => {
    expect(shirt).toMatchObject({
      slug: 'linen-shirt',
      brand: 'Mill & Co',
      weightGrams: null,
      seoTitle: 'Linen shirts from the mill',
      seoDescription: 'A shirt for warm days.',
      categories: ['Shirts', 'Apparel & Accessories > Clothing > Shirts'],
      images: [{ src: 'https://cdn.example/white.jpg', alt: 'White shirt' }, { src: 'https://cdn.example/back.jpg' }],
      variations: [
        {
          sku: 'LS-S-W',
          options: { Size: 'S', Colour: 'White' },
          priceMinor: 5900,
          salePriceMinor: 4900,
          stock: 4,
          gtin: '9780306406157',
          weightGrams: 180,
          images: [{ src: 'https://cdn.example/white.jpg' }]
        },
        { sku: 'LS-M-W', options: { Size: 'M', Colour: 'White' }, stock: 0, gtin: null, weightGrams: 200 },
        { sku: 'LS-M-B', options: { Size: 'M', Colour: 'Blue' }, priceMinor: 5200, salePriceMinor: null }
      ]
    })
    expect(kit).toMatchObject({ sku: 'KIT', published: false, weightGrams: null })
  })

  it('keeps the markup of a description without scripts, handlers and pictures', () => {
    expect(shirt?.descriptionHtml).toBe('<h2>Linen</h2><p>Woven in <a href="https://mill.example">a mill</a>.</p>')
    expect(shirt?.description).toBe('Linen\n\nWoven in a mill.')
  })

  it('says what it leaves out and what arrives unpublished', () => {
    expect(report.unpublished).toEqual([{ count: 1, why: 'Not active or not published in Shopify: Mending Kit' }])
    expect(report.ignored).toEqual(
      expect.arrayContaining([
        { column: 'Body (HTML)', count: 1, why: expect.stringContaining('Pictures') },
        { column: 'Variant Barcode', count: 1, why: expect.stringContaining('not a GTIN') }
      ])
    )
  })
})

describe('a table of products', () => {
  const map = {
    'Artikelnr.': 'sku',
    Bezeichnung: 'name',
    Preis: 'price',
    Aktionspreis: 'salePrice',
    Bestand: 'stock',
    'Gewicht (g)': 'weight (g)',
    Beschreibung: 'description',
    Warengruppe: 'categories',
    Bilder: 'images',
    EAN: 'gtin'
  }

  it('is read by the columns that the operator names, in UTF-16 with semicolons and decimal commas', () => {
    const { file, report } = readExport('spreadsheet-utf16.csv', { map })
    expect(file.products).toMatchObject([
      {
        slug: 'k-100',
        sku: 'K-100',
        name: 'Käsemesser',
        priceMinor: 124_900,
        salePriceMinor: 99_950,
        stock: 3,
        weightGrams: 420,
        description: 'Scharf; auch für Hartkäse',
        categories: ['Küche > Messer'],
        images: [{ src: 'https://shop.example/messer.jpg' }],
        gtin: '4006381333931'
      },
      { name: 'Brett „Eiche“', priceMinor: 2490, salePriceMinor: null, stock: null, gtin: null },
      { name: 'Schürze', unpriced: true }
    ])
    expect(report).toMatchObject({
      format: 'spreadsheet',
      rows: 3,
      ignored: [{ column: 'Lieferant', count: 1 }],
      unpublished: [{ count: 1, why: expect.stringContaining('Schürze') }]
    })
  })

  it('makes slugs from names if asked to', () => {
    const slugs = (file: string, options: Partial<ReadOptions>) =>
      readExport(file, { ...options, slugsFrom: 'name' }).file.products.map(({ slug }) => slug)
    expect(slugs('spreadsheet-utf16.csv', { map })).toEqual(['kasemesser', 'brett-eiche', 'schurze'])
    expect(slugs('woocommerce-de.csv', {})[0]).toBe('becher-blau')
  })

  it('is refused with its columns and the fields if the columns have no names of fields', () => {
    const cause = String(readColumns('Preis;Titel\n3,50;Becher\n')[0]?.cause)
    expect(cause).toContain('Preis, Titel')
    expect(cause).toContain('--map "COLUMN=name"')
    expect(cause).toContain('weight (kg)')
  })

  it.each([
    [{ Prix: 'price' }, 'The file has no column prix.'],
    [{ Preis: 'cost' }, 'cost is not a field.']
  ])('refuses the map %j', (wrong, message) => {
    const outcome = outcomeOf(() => readExport('spreadsheet-utf16.csv', { map: wrong }))
    expect(outcome).toBeInstanceOf(AppError)
    expect(outcome).toMatchObject({ code: 'USAGE', message: expect.stringContaining(message) })
  })

  it('can name columns as those of WooCommerce and Shopify, with variations', () => {
    const text = csv(
      ['Artikel', 'Titel', 'Größe', 'Preis'],
      [
        { Artikel: 'hemd', Titel: 'Hemd', Größe: 'S', Preis: '20,00' },
        { Artikel: 'hemd', Größe: 'M', Preis: '22,00' }
      ]
    )
    const columns = { Artikel: 'Handle', Titel: 'Title', Größe: 'Option1 Value', Preis: 'Variant Price' }
    const { file } = readCatalogFile(text, { currency: 'EUR', timeZone: 'UTC', map: columns })
    expect(file.products).toMatchObject([
      { slug: 'hemd', variations: [{ name: 'S' }, { name: 'M', priceMinor: 2200 }] }
    ])
  })

  function readColumns(text: string) {
    return errorsOf(text)
  }
})

describe('the encoding of a table', () => {
  const text = 'name;price\nKäse – 1 €;3,50\n'
  const nameIn = (content: Uint8Array) => read(content).file.products[0]?.name

  it.each([
    ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 without one', Buffer.from(text, 'utf16le')],
    ['UTF-16, big-endian', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['UTF-8', Buffer.from(text)],
    ['Windows-1252', Buffer.from('name;price\nK\xe4se \x96 1 \x80;3,50\n', 'latin1')]
  ])('is recognised as %s', (_, content) => {
    expect(nameIn(content)).toBe('Käse – 1 €')
  })

  it('is named if it is a guess', () => {
    const { report } = read(Buffer.from('name;price\nK\xe4se;3,50\n', 'latin1'))
    expect(report.warnings).toEqual([expect.stringContaining('Windows-1252')])
  })

  it('is refused if a part of the file is UTF-8', () => {
    const mixed = Buffer.concat([Buffer.from('name;price\nKäse;3\n'), Buffer.from('K\xe4se;3\n', 'latin1')])
    expect(errorsOf(mixed)).toEqual([{ line: 3, column: null, cause: expect.stringContaining('not UTF-8') }])
  })
})
