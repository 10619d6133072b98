import type { Product } from '../../client/api-types.ts'
import { cartCookie, parseCart, quantityOf, setCart, setSlug, withItem } from './cart-cookie.ts'
import type { CartItem } from './cart-cookie.ts'
import { changeCart } from './cart-page.ts'
import type { Shown, Visit } from './site.ts'

/** A form that was sent to the cart: a product that is added, or the cart itself. */
export async function takeCart(visit: Visit): Promise<Shown> {
  const form = await visit.form()
  return form.has('slug') ? addToCart(visit, form) : changeCart(visit, form)
}

/** Puts a product into the cart: the form of a product's page. `stay` shows the product again. @throws ShopError NOT_FOUND */
async function addToCart(visit: Visit, form: URLSearchParams): Promise<Shown> {
  const { client, site, cookie } = visit
  const slug = form.get('slug') ?? ''
  const { product } = await client.get(`/store/products/${encodeURIComponent(slug)}`)
  const back = `/products/${product.slug}`
  const variation = variationOf(product, form)
  if (variation === undefined) return { redirect: `${back}?notice=no-choice` }
  const item = { productId: product.productId, quantity: quantityOf(form.get('quantity')), ...variation }
  const items = withItem(parseCart(cookie(cartCookie)), item)
  if (items === undefined) return { redirect: `${back}?notice=full` }
  const isMost = items.some((each) => isSame(each, item) && each.quantity < item.quantity + quantityIn(cookie, item))
  const cookies = [setCart(items, site), setSlug(cookie, product.productId, product.slug, site)]
  if (form.has('stay')) return { redirect: `${back}?notice=${isMost ? 'most' : 'added'}`, cookies }
  return { redirect: '/cart', cookies }
}

function variationOf(product: Product, form: URLSearchParams): { variationId?: number } | undefined {
  const { variations, options } = product
  if (variations.length === 0) return {}
  const found = variations.find(({ variationId, options: own }) =>
    options.length === 0
      ? form.get('variation') === String(variationId)
      : options.every(({ name }, index) => form.get(`option-${index}`) === own[name])
  )
  return found === undefined ? undefined : { variationId: found.variationId }
}

const isSame = (a: CartItem, b: CartItem): boolean => a.productId === b.productId && a.variationId === b.variationId

function quantityIn(cookie: Visit['cookie'], item: CartItem): number {
  return parseCart(cookie(cartCookie)).find((each) => isSame(each, item))?.quantity ?? 0
}
