import type { CheckoutHandoff } from './api-types.ts'
import { isLost } from './errors.ts'
import type { CheckoutBody, NamedMethods } from './methods.ts'
import { resultOf } from './payments.ts'

/** The part of Stripe.js that the form uses (docs.stripe.com/js). */
type Failure = { error?: { message?: string } }
type Elements = {
  create(type: 'payment', options?: object): { mount(target: string | object): void; unmount(): void }
  update(options: { amount: number }): void
  submit(): Promise<Failure>
}
type StripeJs = {
  elements(options: object): Elements
  createConfirmationToken(options: object): Promise<Failure & { confirmationToken?: { id: string } }>
}

/** The part of a page that loads a script. */
type Page = {
  Stripe?: (publishableKey: string) => StripeJs
  document: { createElement(name: 'script'): object; head: { append(element: object): void } }
}

/** The buyer must correct the form, which shows the message, too. */
export class PaymentFormError extends Error {
  override readonly name = 'PaymentFormError'
}

export type PaymentFormOptions = {
  /** The total and currency of the quote; more than 0. */
  total: number
  currency: string
  /** Options of Stripe's `elements()`, such as `appearance` and `locale`. */
  elements?: object
  /** Options of Stripe's Payment Element. */
  payment?: object
}

/** What `pay` sends: a checkout, without its strategy and its token. */
export type PaymentBody = Omit<CheckoutBody<never>, 'strategy' | 'paymentToken' | 'returnUrl'> & { returnUrl: string }

/** The result of a payment. */
export type Payment = CheckoutHandoff & {
  /** Where to send the buyer: the bank's page for 3-D Secure, which leads back to returnUrl, or returnUrl itself. */
  nextUrl: string
}

export type PaymentForm = {
  /** Shows the form in an element or the element of a selector. */
  mount(target: string | object): void
  unmount(): void
  /** Changes the total that wallets show, when the cart changes. */
  setTotal(total: number): void
  /**
   * Places the order and pays it. Send the buyer to `nextUrl` of the result. A second click joins the first payment, also
   * while the next page loads.
   *
   * @throws PaymentFormError when the form is not complete
   * @throws ShopError as a checkout, for example CHECKOUT_FAILED for a declined card
   */
  pay(body: PaymentBody): Promise<Payment>
}

/**
 * Loads the gateway's script and creates its payment form on the site's own page. The card data goes to the gateway only.
 *
 * @throws ShopError as paymentConfig
 * @throws Error when the shop has no publishable key, or the script does not load
 */
export async function createPaymentForm(
  shop: Pick<NamedMethods, 'checkout' | 'paymentConfig'>,
  { total, currency, elements: elementsOptions, payment }: PaymentFormOptions
): Promise<PaymentForm> {
  const { publishableKey, scriptUrl, methodConfiguration, currencyDecimals } = await shop.paymentConfig()
  if (publishableKey === null || scriptUrl === null)
    throw new Error('The shop has no publishable key (SHOPSTEAD_STRIPE_PUBLISHABLE_KEY). Use redirect_to_store.')
  const stripe = (await loadStripe(scriptUrl))(publishableKey)
  const toMinor = (amount: number): number => Math.round(amount * 10 ** currencyDecimals)
  const elements = stripe.elements({
    ...elementsOptions,
    mode: 'payment',
    amount: toMinor(total),
    currency: currency.toLowerCase(),
    ...(methodConfiguration === null ? {} : { paymentMethodConfiguration: methodConfiguration })
  })
  const element = elements.create('payment', payment)
  const newToken = async (returnUrl: string): Promise<string> => {
    // Stripe requires this before createConfirmationToken.
    refuse(await elements.submit())
    const created = await stripe.createConfirmationToken({ elements, params: { return_url: returnUrl } })
    refuse(created)
    return created.confirmationToken?.id ?? ''
  }
  /** The token of a checkout whose answer was lost: another token would be another purchase. */
  let unanswered: { sent: string; paymentToken: string } | undefined
  const pay = async (body: PaymentBody): Promise<Payment> => {
    const sent = JSON.stringify(body)
    const paymentToken = unanswered?.sent === sent ? unanswered.paymentToken : await newToken(body.returnUrl)
    unanswered = { sent, paymentToken }
    try {
      const answer = await shop.checkout({ ...body, strategy: 'token_handoff', paymentToken })
      unanswered = undefined
      return { ...answer, nextUrl: answer.redirectUrl ?? returnAddress(body.returnUrl, answer) }
    } catch (error) {
      if (!isLost(error)) unanswered = undefined
      throw error
    }
  }
  let running: Promise<Payment> | undefined
  let last: { sent: string; payment: Payment } | undefined
  const payOnce = async (body: PaymentBody): Promise<Payment> => {
    const sent = JSON.stringify(body)
    if (last?.sent === sent) return last.payment
    const payment = await (running ??= pay(body).finally(() => (running = undefined)))
    // A click while the next page loads must not pay again. A buyer who comes back from their bank pays anew.
    if (payment.redirectUrl === undefined) last = { sent, payment }
    return payment
  }
  return {
    mount: (target) => element.mount(target),
    unmount: () => element.unmount(),
    setTotal: (changed) => elements.update({ amount: toMinor(changed) }),
    pay: payOnce
  }
}

function refuse({ error }: Failure): void {
  if (error !== undefined) throw new PaymentFormError(error.message ?? 'The payment form is not complete.')
}

/** The site's page for a payment that needs no bank. A buyer who comes from the bank has Stripe's parameters instead. */
function returnAddress(returnUrl: string, { orderId, orderToken, status }: CheckoutHandoff): string {
  const url = new URL(returnUrl)
  for (const [name, value] of Object.entries({ orderId: String(orderId), orderToken, result: resultOf(status) }))
    url.searchParams.set(name, value)
  return url.href
}

async function loadStripe(url: string): Promise<NonNullable<Page['Stripe']>> {
  const page = globalThis as unknown as Page
  if (page.Stripe === undefined) {
    await new Promise((resolve, reject) => {
      const onerror = (): void => reject(new Error(`The script of the payment form does not load: ${url}`))
      page.document.head.append(
        Object.assign(page.document.createElement('script'), { src: url, onload: resolve, onerror })
      )
    })
  }
  if (page.Stripe === undefined) throw new Error(`${url} is not the script of a payment form.`)
  return page.Stripe
}
