import type { ShopCommand, Work } from '../run.ts'
import type { App } from '../../app.ts'
import { parseId } from '../terminal/arguments.ts'
import { fetchImages } from '../../shop/catalog/images/fetch-images.ts'
import type { ImageReport } from '../../shop/catalog/images/fetch-images.ts'
import { addImage, listImages, orderImages, removeImage } from '../../shop/catalog/images/manage-images.ts'
import type { Answer, Watched } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import { showProgress } from '../terminal/output.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'

type FetchFlags = { allowPrivate?: boolean }
type AddFlags = FetchFlags & { alt?: string; sku?: string }

/** Lets a command fetch pictures from private networks. */
export const allowPrivate = ['--allow-private', 'also fetch from private networks and this machine'] as const

/** Adds the commands for the pictures of products. */
export function defineImages(offers: ShopCommand): void {
  const group = offers.command('images').description('pictures of products')
  const example = 'offers images add mug https://shop.example/mug.jpg --alt "A blue mug"'
  const adding = addCommand(group, 'add <slug> <source>', 'add a picture from a file or a URL', example)
    .option('--alt <text>', 'what the picture shows, for people who do not see it')
    .option('--sku <sku>', 'the variation that it shows')
    .option(...allowPrivate)
  runs(adding, add)
  const listing = addCommand(group, 'list <slug>', 'list the pictures of a product', 'offers images list mug')
  runs(listing, ({ app }, slug: string) => show(app, slug))
  const ordering = addCommand(
    group,
    'order <slug> <ids...>',
    'put pictures first, in this order',
    'offers images order mug 7 5'
  )
  runs(ordering, ({ app }, slug: string, ids: string[]) => {
    orderImages(app.db, slug, ids.map(parseId))
    return show(app, slug)
  })
  const removing = addCommand(group, 'remove <slug> <id>', 'remove a picture', 'offers images remove mug 7')
  removing.option('--yes', 'do not ask for confirmation')
  runs(removing, async ({ app, options, terminal }: Work<{ yes?: boolean }>, slug: string, id: string) => {
    await confirmOrRefuse(terminal, `Remove picture ${parseId(id)} of ${slug}?`, options)
    removeImage(app.db, slug, parseId(id))
    return show(app, slug)
  })
  const about = 'fetch the pictures that an import could not store'
  runs(addCommand(group, 'retry', about, 'offers images retry').option(...allowPrivate), retry)
}

async function add({ app, options }: Work<AddFlags>, slug: string, source: string): Promise<Answer> {
  await addImage(app, slug, { src: source, alt: options.alt ?? '', sku: options.sku }, connections(options))
  return show(app, slug)
}

async function retry(work: Work<FetchFlags>): Promise<Answer> {
  const report = await storeImages(work.app, work, { ...work.options, retry: true })
  return { json: { images: report.failed, stored: report.stored }, human: describeImages(report) }
}

/** Stores the pictures that are missing, and shows the progress. */
export async function storeImages(
  app: App,
  watched: Watched,
  { retry, ...flags }: FetchFlags & { retry?: boolean }
): Promise<ImageReport> {
  const progress = showProgress(watched)
  const onProgress = (done: number, all: number): void => progress.step(`${done} of ${all} pictures`)
  return fetchImages(app, { ...connections(flags), onProgress, retry: retry ?? false }).finally(progress.done)
}

const listedFailures = 40

/** One line for the stored pictures, and one for each that failed, at most 40. */
export function describeImages({ stored, failed }: ImageReport): string[] {
  const listed = failed.slice(0, listedFailures)
  const lines = listed.map(({ slug, src, problem }) => `No picture for ${slug}: ${problem} ${src}`)
  const more = failed.length - listed.length
  if (more > 0) lines.push(`and ${more} more: --json lists all of them.`)
  if (failed.length > 0) lines.push('Run "shopstead offers images retry" to try them again.')
  return stored + failed.length === 0
    ? ['pictures: none to fetch']
    : [...lines, `pictures: ${stored} stored, ${failed.length} failed`]
}

/** From where a command may fetch pictures. */
export function connections({ allowPrivate }: FetchFlags) {
  return allowPrivate === true ? { mayConnect: () => true } : {}
}

function show(app: App, slug: string): Answer {
  const images = listImages(app, slug)
  const rows = images.map(({ id, sku, alt, image, src, problem }) => [
    id,
    sku,
    alt,
    image?.width ?? null,
    problem === null ? src : `${src}: ${problem}`
  ])
  return { json: { images }, human: table(['Id', 'SKU', 'Text', 'Width', 'Source'], rows) }
}
