import { AppError } from '../../../errors.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { write } from '../../../platform/db/database.ts'
import { toDecimalText } from '../../../platform/money.ts'
import { isRecord } from '../../../platform/typed.ts'
import { insertImportedDownload } from '../../../shop/benefits/imported-benefits.ts'
import { readCatalogFile } from '../../../shop/catalog/import/read-file.ts'
import { htmlToText } from '../../../shop/catalog/import/html-text.ts'
import { slugFor } from '../../../shop/catalog/import/slug.ts'
import { downloadName } from '../../../shop/catalog/import/woocommerce-row.ts'
import { productBySlug, variationsOfProduct } from '../../../shop/catalog/stored-product.ts'
import { getOrder } from '../../../shop/orders/find.ts'
import { redirectKey, storeRedirect } from '../../../shop/redirects/redirects.ts'
import { shopPlace } from '../../../shop/settings/shop-days.ts'
import { importCatalog } from '../../catalog.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import type { SubjectTally } from '../report.ts'
import type { Row, WordPress } from './database.ts'
import { eddId, priceId, readEddOrders } from './edd-rows.ts'
import { decoded } from './terms.ts'
import { idsOf, minorOf, phpEntries, readMeta, scalar, text, utc } from './values.ts'
import type { Meta } from './values.ts'

const metaKeys = ['edd_price', '_variable_pricing', 'edd_variable_prices', 'edd_download_files', '_edd_product_type']

/** Moves the products of Easy Digital Downloads in, with their prices, files and addresses. */
export async function* moveEddProducts(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  const sql = `SELECT ID AS id, post_name, post_title, post_content, post_status FROM {posts}
    WHERE post_type = 'download' AND post_status NOT IN ('auto-draft', 'inherit') AND ID > ?`
  for await (const rows of source.parts(sql)) {
    const metaOf = await readMeta(source, { table: 'postmeta', owner: 'post_id' }, idsOf(rows), metaKeys)
    for (const row of rows) {
      move.signal?.throwIfAborted()
      await moveProduct({ row, meta: metaOf(text(row, 'id')) }, move, tally)
      yield
    }
  }
}

type Product = { row: Row; meta: Meta }

async function moveProduct({ row, meta }: Product, move: Move, tally: SubjectTally): Promise<void> {
  const [id, name] = [text(row, 'id'), text(row, 'post_title')]
  const { db } = move.shop
  if (move.moved.find(db, 'product', id) !== undefined) return tally.know()
  if (text(row, 'post_status') === 'trash') return tally.leave('The product is in the trash', name)
  if (meta.get('_edd_product_type') === 'bundle') return tally.leave('Bundles do not exist here', name)
  const slug = slugFor(decoded(text(row, 'post_name')) || name)
  if (productBySlug(db, slug) !== undefined) return tally.leave('The shop has a product with this address', name)
  const place = shopPlace(db)
  const prices = pricesOf(meta, place.currency)
  const files = filesOf(meta.get('edd_download_files') ?? '', undefined)
  const entry = {
    slug,
    name: name || slug,
    description: htmlToText(text(row, 'post_content')),
    type: 'digital',
    published: text(row, 'post_status') === 'publish',
    price: toDecimalText(minorOf(meta.get('edd_price') ?? '', place.currency), place.currency),
    grants: files.map((file) => ({ kind: 'download', file })),
    ...(prices.length === 0
      ? {}
      : {
          variations: prices.map(({ key, label, price }) => ({
            sku: `${slug.slice(0, 50)}-${key}`,
            options: { Option: label || key },
            price
          }))
        })
  }
  try {
    const { file } = readCatalogFile(JSON.stringify([entry]), place)
    await importCatalog(move.shop, file, {}, move.now)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_FAILED') throw error
    return tally.leave('The shop cannot have such a product', name)
  }
  write(db, (tx) => remember(tx, { row, slug, keys: prices.map(({ key }) => key) }, move))
  tally.arrive()
}

/** The prices of a product that has several, by their number there. */
function pricesOf(meta: Meta, currency: string): { key: string; label: string; price: string }[] {
  if (meta.get('_variable_pricing') !== '1') return []
  return phpEntries(meta.get('edd_variable_prices') ?? '').flatMap(([key, value]) =>
    isRecord(value)
      ? [
          {
            key,
            label: scalar(value['name']),
            price: toDecimalText(minorOf(scalar(value['amount']), currency), currency)
          }
        ]
      : []
  )
}

function remember(tx: Tx, { row, slug, keys }: { row: Row; slug: string; keys: string[] }, move: Move): void {
  const product = productBySlug(tx, slug)
  if (product === undefined) return
  move.moved.remember(tx, 'product', text(row, 'id'), product.id, move.now)
  const variations = variationsOfProduct(tx, product.id)
  for (const [index, key] of keys.entries()) {
    const variation = variations[index]
    if (variation !== undefined)
      move.moved.remember(tx, 'variation', priceId(text(row, 'id'), key), variation.id, move.now)
  }
  const address = `/downloads/${text(row, 'post_name')}`
  if (redirectKey(address) === undefined || move.moved.find(tx, 'redirect', address) !== undefined) return
  const { id } = storeRedirect(tx, move.shop, address, { product: slug }, move.now)
  move.moved.remember(tx, 'redirect', address, id, move.now)
}

/** Moves the permissions to download of paid orders in, one for each file. The files are copied by the operator. */
export async function* moveEddDownloads(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  for await (const orders of readEddOrders(source)) {
    const products = [...new Set(orders.flatMap(({ items }) => items.map((item) => text(item, 'product_id'))))]
    const metaOf = await readMeta(source, { table: 'postmeta', owner: 'post_id' }, products, ['edd_download_files'])
    await writeInBatches(move, orders, (tx, { row, items }) => {
      if (!['complete', 'partially_refunded'].includes(text(row, 'status'))) return
      for (const item of items)
        for (const file of filesOf(metaOf(text(item, 'product_id')).get('edd_download_files') ?? '', item))
          moveDownload(tx, { order: row, item, file }, move, tally)
    })
    yield
  }
}

/** The names of the files of a line. A file can be for one of the prices only. */
function filesOf(stored: string, item: Row | undefined): string[] {
  const files = phpEntries(stored).flatMap(([, file]) => {
    if (!isRecord(file)) return []
    const [condition, name] = [scalar(file['condition']) || 'all', downloadName(scalar(file['file']))]
    return name === undefined || (item !== undefined && condition !== 'all' && condition !== text(item, 'price_id'))
      ? []
      : [name]
  })
  return [...new Set(files)]
}

type Download = { order: Row; item: Row; file: string }

function moveDownload(tx: Tx, { order, item, file }: Download, move: Move, tally: SubjectTally): void {
  const id = eddId(`${text(item, 'id')} ${file}`)
  if (move.moved.find(tx, 'download', id) !== undefined) return tally.know()
  const orderId = move.moved.find(tx, 'order', eddId(text(order, 'id')))
  const stored = orderId === undefined ? undefined : getOrder(tx, orderId)
  const productId = move.moved.find(tx, 'product', text(item, 'product_id'))
  if (stored === undefined) return tally.leave('The order of the download did not arrive', id)
  if (productId === undefined) return tally.leave('The product of the download did not arrive', id)
  const startedAt = utc(text(order, 'date_completed')) ?? move.now
  const permission = { userId: stored.userId, productId, orderId: stored.id, file, startedAt, expiresAt: null }
  move.moved.remember(tx, 'download', id, insertImportedDownload(tx, permission), move.now)
  tally.change('The limit of a download is lifted', id)
  tally.arrive()
}
