import { toDecimalText, toMinor } from '../../platform/money.ts'
import { setPublished, toBrief, toProduct } from '../../shop/catalog/products.ts'
import type { ProductEntry } from '../../shop/catalog/import/write-json.ts'
import { listImages } from '../../shop/catalog/images/manage-images.ts'
import { addProduct, editProduct, editVariations } from '../../shop/catalog/manage/edit-product.ts'
import type { ProductEdit, VariationEdit } from '../../shop/catalog/manage/edit-product.ts'
import { listProducts } from '../../shop/catalog/manage/list-products.ts'
import { viewTerms } from '../../shop/catalog/public/categories.ts'
import type { ProductRow } from '../../shop/catalog/rows.ts'
import { isAllowed } from '../../shop/desk/roles.ts'
import { setting } from '../../shop/settings/settings.ts'
import { shopDay, untilText } from '../../shop/settings/shop-days.ts'
import { taxClasses } from '../../shop/tax/input.ts'
import type { Field } from '../storefront/form-view.ts'
import { numberOrText } from '../../platform/input-fields.ts'
import type { PageReply } from '../page.ts'
import { entryOf, productAction, rowOf, slugPart } from './product-action.ts'
import { picturesBlock } from './product-pictures.ts'
import { commandOf, listOf, page, pagesOf, refuseField, textFor, textOf } from './view.ts'
import type { Action, Block, DeskCall, DeskPage, Item } from './view.ts'

const perPage = 25
const tones = { listed: 'good', sold_out: 'wait', unpublished: 'bad' } as const

export const productPages: readonly DeskPage[] = [
  { path: /^\/desk\/products$/, name: '/desk/products', needs: 'products', show: showProducts },
  {
    path: new RegExp(`^/desk/products/${slugPart}$`),
    name: '/desk/products/:slug',
    needs: 'products',
    show: showProduct
  }
]

function showProducts(call: DeskCall): PageReply {
  const { app, query, words, now, visit } = call
  const { t } = words
  const terms = viewTerms(app)
  const search = textOf(query, 'search')
  const filter = { search, category: textOf(query, 'category'), cursor: textOf(query, 'cursor'), limit: perPage }
  const { rows, nextCursor } = listProducts(app.db, filter, (row): Item => {
    const { price, stock, state } = toBrief(app.db, row, terms, now)
    const picture = listImages(app, row.slug).find(({ image }) => image !== null)?.image?.url ?? null
    return {
      name: row.name,
      url: `/desk/products/${row.slug}`,
      state: { label: textFor(call, 'desk.product', state), tone: tones[state] },
      amount: words.money(toMinor(price.amount, price.currency), price.currency),
      hints: [stockText(call, stock)],
      picture
    }
  })
  const mayChange = isAllowed(visit.actor, 'products.change')
  return page(call, {
    title: t('desk.products'),
    blocks: [
      { kind: 'links', links: mayChange ? [{ label: t('desk.newProduct'), url: '/desk/new-product' }] : [] },
      {
        kind: 'search',
        fields: [{ name: 'search', label: t('desk.searchProducts'), type: 'text', value: search ?? '' }]
      },
      { kind: 'list', items: [...rows], empty: t('desk.noProducts') },
      pagesOf(call, nextCursor)
    ],
    command: commandOf('offers list', { search })
  })
}

function stockText({ words }: DeskCall, stock: number | null): string {
  return stock === null ? words.t('desk.notCounted') : words.t('desk.inStock', { count: stock })
}

function showProduct(call: DeskCall): PageReply {
  const { app, words, visit, now } = call
  const { t } = words
  const row = rowOf(call)
  const terms = viewTerms(app)
  const view = toProduct(app.db, row, terms, now)
  const { stock, price } = toBrief(app.db, row, terms, now)
  const money = (major: number): string => words.money(toMinor(major, price.currency), price.currency)
  const mayChange = isAllowed(visit.actor, 'products.change')
  const to = (verb: string): string => `/desk/products/${row.slug}/${verb}`
  const links = [
    { label: t('desk.edit'), url: to('edit') },
    view.variations.length > 0
      ? { label: t('desk.variations'), url: to('variations') }
      : { label: t('desk.stock'), url: to('stock') },
    { label: t('desk.addPicture'), url: to('picture') },
    { label: t(row.published ? 'desk.unpublish' : 'desk.publish'), url: to(row.published ? 'unpublish' : 'publish') }
  ]
  const facts = [
    { label: t('desk.status'), value: textFor(call, 'desk.product', view.state) },
    { label: t('desk.price'), value: money(price.amount) },
    ...(price.originalAmount === null ? [] : [{ label: t('desk.regularPrice'), value: money(price.originalAmount) }]),
    { label: t('desk.stock'), value: stockText(call, stock) },
    ...(view.cost === null ? [] : [{ label: t('desk.cost'), value: money(view.cost) }]),
    ...(view.categories.length === 0 ? [] : [{ label: t('categories'), value: view.categories.join(', ') }]),
    { label: t('desk.page'), value: view.url, url: view.url }
  ]
  const variations: Block[] =
    view.variations.length === 0
      ? []
      : [
          {
            kind: 'table',
            title: t('desk.variations'),
            head: [t('desk.variation'), t('desk.price'), t('desk.salePrice'), t('desk.stock')],
            rows: view.variations.map((each) => [
              each.name || each.sku,
              money(each.price),
              each.salePrice === null ? '' : money(each.salePrice),
              each.stock === null ? '–' : String(each.stock)
            ])
          }
        ]
  return page(call, {
    title: row.name,
    back: { label: t('desk.products'), url: '/desk/products' },
    blocks: [
      { kind: 'links', links: mayChange ? links : [] },
      { kind: 'facts', rows: facts },
      ...variations,
      picturesBlock(call, row, mayChange)
    ],
    command: `shopstead offers show ${row.slug}`
  })
}

type Typed = Partial<
  Record<
    | 'name'
    | 'price'
    | 'salePrice'
    | 'saleStart'
    | 'saleEnd'
    | 'cost'
    | 'weight'
    | 'taxClass'
    | 'description'
    | 'manufacturer'
    | 'responsiblePerson'
    | 'safetyInfo'
    | 'categories'
    | 'tags',
    string
  >
>

/** An amount of the import format, as a price is written. */
function amountField({ app }: DeskCall, amount: number | string | null): string {
  const currency = setting(app.db, 'shop.currency')
  return amount === null ? '' : toDecimalText(toMinor(amount, currency), currency)
}

function fieldsOf(
  { words }: DeskCall,
  { isNew, hasVariations }: { isNew: boolean; hasVariations: boolean }
): Field[][] {
  const { t } = words
  const sale: Field[][] = [
    [
      { name: 'price', label: t('desk.price'), required: true, hint: t('desk.priceHint') },
      { name: 'salePrice', label: t('desk.salePrice'), hint: t('desk.noneHint') }
    ]
  ]
  const stock: Field[] = isNew ? [{ name: 'stock', label: t('desk.stock'), hint: t('desk.stockHint') }] : []
  return [
    [{ name: 'name', label: t('desk.name'), required: true }],
    ...(hasVariations ? [] : sale),
    [
      { name: 'saleStart', label: t('desk.saleStart'), type: 'date' },
      { name: 'saleEnd', label: t('desk.saleEnd'), type: 'date' }
    ],
    ...(isNew
      ? [
          stock,
          [{ name: 'option', label: t('desk.options'), hint: t('desk.optionsHint') }],
          [{ name: 'picture', label: t('desk.picture'), type: 'file' } as const],
          [{ name: 'digital', label: t('desk.digital'), type: 'tick' } as const]
        ]
      : []),
    [{ name: 'description', label: t('desk.description'), type: 'long' }],
    [{ name: 'manufacturer', label: t('safety.manufacturer'), type: 'long' }],
    [{ name: 'responsiblePerson', label: t('safety.responsible'), type: 'long' }],
    [{ name: 'safetyInfo', label: t('safety.info'), type: 'long' }],
    [{ name: 'categories', label: t('categories'), hint: t('desk.categoriesHint') }],
    [{ name: 'tags', label: t('desk.tags'), hint: t('desk.listHint') }],
    [
      { name: 'cost', label: t('desk.cost'), hint: t('desk.costHint') },
      { name: 'weight', label: t('desk.weight'), hint: t('desk.weightHint') }
    ],
    [
      {
        name: 'taxClass',
        label: t('desk.taxClass'),
        required: true,
        options: taxClasses.map((value) => ({ value, label: textFor({ words }, 'desk.taxClass', value) }))
      }
    ],
    ...(isNew ? [[{ name: 'hidden', label: t('desk.hidden'), type: 'tick' } as const]] : [])
  ]
}

/** The fields of a product as its form shows them. */
function knownOf(call: DeskCall, row: ProductRow, entry: ProductEntry): Typed {
  const { app } = call
  return {
    name: entry.name,
    price: amountField(call, entry.price),
    salePrice: amountField(call, entry.salePrice),
    saleStart: row.saleStartsAt === null ? '' : shopDay(app.db, row.saleStartsAt),
    saleEnd: row.saleEndsAt === null ? '' : untilText(app.db, row.saleEndsAt),
    cost: amountField(call, entry.cost),
    weight: String(entry.weightGrams ?? ''),
    taxClass: entry.taxClass,
    description: entry.description,
    manufacturer: entry.manufacturer ?? '',
    responsiblePerson: entry.responsiblePerson ?? '',
    safetyInfo: entry.safetyInfo ?? '',
    categories: entry.categories.join(', '),
    tags: entry.tags.join(', ')
  }
}

/** What was typed differently from what is known, as an edit of the product. An empty field removes its value. */
function editOf(form: URLSearchParams, known: Typed): ProductEdit {
  const changed = (name: keyof Typed): string | undefined => {
    const value = form.get(name)?.trim()
    return value === undefined || value === (known[name] ?? '') ? undefined : value
  }
  const orNone = (value: string | undefined): string | null | undefined => (value === '' ? null : value)
  const list = (value: string | undefined): string[] | undefined => (value === undefined ? undefined : listOf(value))
  return {
    name: changed('name'),
    price: changed('price'),
    salePrice: orNone(changed('salePrice')),
    saleStart: orNone(changed('saleStart')),
    saleEnd: orNone(changed('saleEnd')),
    cost: orNone(changed('cost')),
    weightGrams: numberOrText(orNone(changed('weight'))),
    taxClass: changed('taxClass'),
    description: changed('description'),
    manufacturer: orNone(changed('manufacturer')),
    responsiblePerson: orNone(changed('responsiblePerson')),
    safetyInfo: orNone(changed('safetyInfo')),
    categories: list(changed('categories')),
    tags: list(changed('tags'))
  }
}

/** What was typed into the form of a stored product. */
function typedEdit(call: DeskCall, form: URLSearchParams, row: ProductRow): ProductEdit {
  return editOf(form, knownOf(call, row, entryOf(call, row)))
}

/** The value of an option that `none` empties. */
function orNoneText(value: string | number | null | undefined): string | undefined {
  return value === undefined ? undefined : String(value ?? 'none')
}

/** An edit as the options of `offers set`. */
function optionsOf(edit: ProductEdit): Record<string, string | readonly string[] | undefined> {
  return {
    name: edit.name,
    price: edit.price,
    'sale-price': orNoneText(edit.salePrice),
    'sale-start': orNoneText(edit.saleStart),
    'sale-end': orNoneText(edit.saleEnd),
    cost: orNoneText(edit.cost),
    weight: orNoneText(edit.weightGrams),
    'tax-class': edit.taxClass,
    description: edit.description,
    manufacturer: orNoneText(edit.manufacturer),
    responsible: orNoneText(edit.responsiblePerson),
    safety: orNoneText(edit.safetyInfo),
    category: edit.categories,
    tag: edit.tags
  }
}

/** What was typed in the grid of variations differently from what is stored, by SKU. */
function gridEdits(call: DeskCall, form: URLSearchParams, { variations }: ProductEntry): Map<string, VariationEdit> {
  const edits = variations.map(({ sku, price, salePrice, stock }, index): [string, VariationEdit] => {
    const changed = (name: string, known: string): string | undefined => {
      const value = form.get(`${name}-${index}`)?.trim()
      return value === undefined || value === known ? undefined : value
    }
    const [newPrice, newSale, newStock] = [
      changed('price', amountField(call, price)),
      changed('sale', amountField(call, salePrice)),
      changed('stock', String(stock ?? ''))
    ]
    const edit: VariationEdit = {
      ...(newPrice === undefined ? {} : { price: newPrice }),
      ...(newSale === undefined ? {} : { salePrice: newSale === '' ? null : newSale }),
      ...(newStock === undefined ? {} : { stock: numberOrText(newStock === '' ? null : newStock) })
    }
    return [sku, edit]
  })
  return new Map(edits.filter(([, edit]) => Object.keys(edit).length > 0))
}

/** One command for each variation that changes. */
function gridCommand(row: ProductRow, edits: ReadonlyMap<string, VariationEdit>): string {
  const lines = [...edits].map(([sku, { price, salePrice, stock }]) => {
    const options = { sku, price, 'sale-price': orNoneText(salePrice), stock: orNoneText(stock) }
    return commandOf(`offers set ${row.slug}`, options)
  })
  return lines.length === 0 ? commandOf(`offers set ${row.slug}`, { sku: 'SKU', price: 'AMOUNT' }) : lines.join('\n')
}

/** `Size=S,M,L; Colour=Red,Blue`. @throws AppError VALIDATION_FAILED */
function typedOptions({ words }: DeskCall, text: string | undefined): { name: string; values: string[] }[] {
  return (text ?? '')
    .split(';')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [name = '', list = '', ...rest] = part.split('=')
      const values = listOf(list)
      if (name.trim() === '' || values.length === 0 || rest.length > 0 || new Set(values).size < values.length)
        throw refuseField('option', words.t('desk.optionsHint'))
      return { name: name.trim(), values }
    })
}

const newProduct: Action = {
  path: /^\/desk\/new-product$/,
  name: '/desk/new-product',
  needs: 'products.change',
  form: (call) => ({
    title: call.words.t('desk.newProduct'),
    rows: fieldsOf(call, { isNew: true, hasVariations: false }),
    known: { taxClass: 'standard' },
    submit: call.words.t('desk.addProduct'),
    back: { label: call.words.t('desk.products'), url: '/desk/products' }
  }),
  command: (_call, form) =>
    commandOf('offers add', {
      name: textOf(form, 'name') ?? 'NAME',
      price: textOf(form, 'price') ?? 'AMOUNT',
      option: textOf(form, 'option')?.split(';'),
      stock: textOf(form, 'stock')
    }),
  run: async (call, form) => {
    const { app, now, files } = call
    const { name = '', price = '', salePrice, ...others } = editOf(form, {})
    const { row } = await addProduct(
      app,
      {
        ...others,
        name,
        price,
        ...(salePrice ? { salePrice } : {}),
        ...(textOf(form, 'stock') === undefined ? {} : { stock: numberOrText(textOf(form, 'stock')) }),
        ...(form.has('digital') ? { type: 'digital' } : {}),
        published: !form.has('hidden'),
        options: typedOptions(call, textOf(form, 'option')),
        pictures: files
      },
      now
    )
    return `/desk/products/${row.slug}`
  }
}

export const productActions: readonly Action[] = [
  newProduct,
  productAction('edit', ({ words }) => words.t('desk.edit'), {
    rows: (call, _row, { variations }) => fieldsOf(call, { isNew: false, hasVariations: variations.length > 0 }),
    known: knownOf,
    command: (call, form, row) => commandOf(`offers set ${row.slug}`, optionsOf(typedEdit(call, form, row))),
    run: (call, form, row) => editProduct(call.app, row.slug, typedEdit(call, form, row), call.now)
  }),
  productAction('stock', ({ words }) => words.t('desk.stock'), {
    rows: ({ words }) => [
      [
        { name: 'stock', label: words.t('desk.stock'), hint: words.t('desk.stockHint') },
        { name: 'add', label: words.t('desk.stockAdd'), hint: words.t('desk.stockAddHint') }
      ]
    ],
    known: (_call, row) => ({ stock: row.stock === null ? '' : String(row.stock) }),
    command: (_call, form, row) => commandOf(`offers set ${row.slug}`, stockOptions(form)),
    run: ({ app, now, words }, form, row) => {
      const add = textOf(form, 'add')
      if (add !== undefined && !/^[+-]?\d{1,9}$/.test(add)) throw refuseField('add', words.t('desk.stockAddHint'))
      const edit =
        add === undefined ? { stock: numberOrText(textOf(form, 'stock') ?? null) } : { stockAdd: Number(add) }
      editProduct(app, row.slug, edit, now)
    }
  }),
  productAction('variations', ({ words }) => words.t('desk.variations'), {
    rows: ({ words }, _row, { variations }) =>
      variations.map(({ sku, name }, index) => {
        const label = (what: string): string => `${name || sku}: ${what}`
        return [
          { name: `price-${index}`, label: label(words.t('desk.price')), required: true },
          { name: `sale-${index}`, label: label(words.t('desk.salePrice')) },
          { name: `stock-${index}`, label: label(words.t('desk.stock')) }
        ]
      }),
    known: (call, _row, { variations }) =>
      Object.fromEntries(
        variations.flatMap(({ price, salePrice, stock }, index) => [
          [`price-${index}`, amountField(call, price)],
          [`sale-${index}`, amountField(call, salePrice)],
          [`stock-${index}`, String(stock ?? '')]
        ])
      ),
    command: (call, form, row) => gridCommand(row, gridEdits(call, form, entryOf(call, row))),
    run: (call, form, row) => editVariations(call.app, row.slug, gridEdits(call, form, entryOf(call, row)), call.now)
  }),
  ...([true, false] as const).map((published) =>
    productAction(
      published ? 'publish' : 'unpublish',
      ({ words }) => words.t(published ? 'desk.publish' : 'desk.unpublish'),
      {
        command: (_call, _form, row) => `shopstead offers ${published ? 'publish' : 'unpublish'} ${row.slug}`,
        run: ({ app, now }, _form, row) => setPublished(app.db, row.slug, published, now)
      }
    )
  )
]

function stockOptions(form: URLSearchParams): Record<string, string | undefined> {
  const add = textOf(form, 'add')
  return add === undefined ? { stock: textOf(form, 'stock') ?? 'none' } : { 'stock-add': add }
}
