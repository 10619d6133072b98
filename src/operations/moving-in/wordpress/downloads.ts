import type { Tx } from '../../../platform/db/database.ts'
import { isRecord } from '../../../platform/typed.ts'
import { insertImportedDownload } from '../../../shop/benefits/imported-benefits.ts'
import { downloadName } from '../../../shop/catalog/import/woocommerce-row.ts'
import { variationById } from '../../../shop/catalog/stored-product.ts'
import { writeInBatches } from '../move.ts'
import type { Move } from '../move.ts'
import type { SubjectTally } from '../report.ts'
import type { Row, WordPress } from './database.ts'
import { php, readMeta, scalar, text, utc } from './values.ts'

const table = 'woocommerce_downloadable_product_permissions'

/** Moves the permissions to download in. The files themselves are copied by the operator. */
export async function* moveDownloads(source: WordPress, move: Move, tally: SubjectTally): AsyncGenerator<void> {
  if (!source.has(table)) return
  const sql = `SELECT p.*, p.permission_id AS id FROM {${table}} p WHERE p.permission_id > ?`
  for await (const rows of source.parts(sql)) {
    const products = [...new Set(rows.map((row) => text(row, 'product_id')))]
    const metaOf = await readMeta(source, { table: 'postmeta', owner: 'post_id' }, products, ['_downloadable_files'])
    await writeInBatches(move, rows, (tx, row) => {
      const files = php(metaOf(text(row, 'product_id')).get('_downloadable_files') ?? '')
      const file = isRecord(files) ? files[text(row, 'download_id')] : undefined
      moveDownload(tx, { row, file: isRecord(file) ? downloadName(scalar(file['file'])) : undefined }, move, tally)
    })
    yield
  }
}

function moveDownload(tx: Tx, { row, file }: { row: Row; file: string | undefined }, move: Move, tally: SubjectTally) {
  const id = text(row, 'id')
  const userThere = text(row, 'user_id')
  const isGuest = userThere === '' || userThere === '0'
  if (move.moved.find(tx, 'download', id) !== undefined) return tally.know()
  const productId = productOf(tx, text(row, 'product_id'), move)
  const orderId = move.moved.find(tx, 'order', text(row, 'order_id')) ?? null
  const userId = isGuest ? null : (move.moved.find(tx, 'customer', userThere) ?? null)
  if (productId === undefined) return tally.leave('The product of the download did not arrive', id)
  if (file === undefined) return tally.leave('The product has no such file any more', id)
  if (!isGuest && userId === null) return tally.leave('The account of the download did not arrive', id)
  if (isGuest && orderId === null) return tally.leave('The order of the download did not arrive', id)
  if (text(row, 'downloads_remaining') === '0') return tally.leave('The limit of the download is used up', id)
  if (text(row, 'downloads_remaining') !== '') tally.change('The limit of a download is lifted', id)
  const permission = { userId, productId, orderId, file }
  const startedAt = utc(text(row, 'access_granted')) ?? move.now
  const downloadId = insertImportedDownload(tx, { ...permission, startedAt, expiresAt: endOf(row) })
  move.moved.remember(tx, 'download', id, downloadId, move.now)
  tally.arrive()
}

/** The product of a download, which may be that of a variation. */
function productOf(tx: Tx, id: string, move: Move): number | undefined {
  const variationId = move.moved.find(tx, 'variation', id)
  return move.moved.find(tx, 'product', id) ?? (variationId && variationById(tx, variationId)?.productId)
}

/** WooCommerce stores the day on which a download ends, and allows it on the whole day. */
function endOf(row: Row): number | null {
  const day = text(row, 'access_expires').slice(0, 10)
  return utc(`${day} 23:59:59`)
}
