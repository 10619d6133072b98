import { assertCheckoutOpen } from '../shop/checkout/create-session.ts'
import { quoteBody } from '../shop/checkout/input.ts'
import { quoteCart } from '../shop/checkout/quote-cart.ts'
import { quoteData } from './answers/quote.ts'
import { readHolder } from './checkout-cookie.ts'
import { route } from './route.ts'

export const quoteRoutes = [
  route({
    method: 'POST',
    path: '/store/quote',
    summary: 'The prices, discounts and problems of a cart',
    answers: [{ data: quoteData }],
    refuses: ['NOT_AUTHENTICATED', 'CHECKOUT_DISABLED', 'RATE_LIMITED'],
    session: 'optional',
    nonce: 'never',
    proxy: { nonce: true, query: [] },
    invalid: 422,
    body: quoteBody,
    around: (call, _raw, next) => {
      assertCheckoutOpen(call.shop, call.identity?.user ?? null)
      return next(call)
    },
    handler: async (call, { body }) => {
      const { shop, addressKey, now } = call
      const caller = { user: call.identity?.user ?? null, addressKey, holder: readHolder(call) }
      return { data: await quoteCart(shop, body, caller, now) }
    }
  })
]
