import { addImage, listImages, orderImages, removeImage } from '../../shop/catalog/images/manage-images.ts'
import type { ProductRow } from '../../shop/catalog/rows.ts'
import { productAction, rowOf, slugPart } from './product-action.ts'
import { commandOf, refuseField, textOf } from './view.ts'
import type { Action, Block, DeskCall } from './view.ts'

/** The pictures of a product, each with a link for who may change it. */
export function picturesBlock(call: DeskCall, row: ProductRow, mayChange: boolean): Block {
  const { app, words } = call
  const { t } = words
  const items = listImages(app, row.slug).map(({ id, alt, sku, image, problem, src }) => ({
    name: alt || src,
    picture: image?.url ?? null,
    hints: [...(sku === null ? [] : [sku]), ...(problem === null ? [] : [problem])],
    ...(mayChange ? { url: `/desk/products/${row.slug}/pictures/${id}` } : {})
  }))
  return { kind: 'list', title: t('desk.pictures'), items, empty: t('desk.noPictures') }
}

export const pictureActions: readonly Action[] = [
  productAction('picture', ({ words }) => words.t('desk.addPicture'), {
    isFree: true,
    rows: ({ words }) => [
      [{ name: 'picture', label: words.t('desk.picture'), type: 'file', required: true }],
      [{ name: 'alt', label: words.t('desk.alt'), hint: words.t('desk.altHint') }]
    ],
    command: (_call, form, row) => commandOf(`offers images add ${row.slug} PICTURE`, { alt: textOf(form, 'alt') }),
    run: async ({ app, files, words }, form, row) => {
      const [picture] = files
      if (picture === undefined) throw refuseField('picture', words.t('desk.choosePicture'))
      const alt = textOf(form, 'alt') ?? row.name
      await addImage(app, row.slug, { src: picture.name, bytes: picture.bytes, alt, sku: undefined }, {})
    }
  }),
  {
    path: new RegExp(`^/desk/products/${slugPart}/pictures/([1-9]\\d{0,14})$`),
    name: '/desk/products/:slug/pictures/:id',
    needs: 'products.change',
    form: (call) => {
      const row = rowOf(call)
      const { t } = call.words
      return {
        title: t('desk.picture'),
        rows: [
          [
            {
              name: 'what',
              label: t('desk.pictureWhat'),
              required: true,
              choose: t('desk.choose'),
              options: [
                { value: 'first', label: t('desk.pictureFirst') },
                { value: 'remove', label: t('desk.remove') }
              ]
            }
          ]
        ],
        submit: t('desk.sure'),
        back: { label: row.name, url: `/desk/products/${row.slug}` }
      }
    },
    command: (call, form) =>
      `shopstead offers images ${form.get('what') === 'remove' ? 'remove' : 'order'} ${call.params[0] ?? ''} ${call.params[1] ?? ''}`,
    run: ({ app, params, words }, form) => {
      const [slug = '', id] = params
      const what = form.get('what')
      if (what === 'remove') removeImage(app.db, slug, Number(id))
      else if (what === 'first') orderImages(app.db, slug, [Number(id)])
      else throw refuseField('what', words.t('desk.choose'))
      return `/desk/products/${slug}`
    }
  }
]
