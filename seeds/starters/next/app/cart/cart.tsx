'use client'

import type { Quote } from '@shopstead/client'
import { useEffect, useState } from 'react'
import { messageOf, shop } from '@/lib/browser-shop'
import { rememberPlaced, setCart, useCart } from '@/lib/cart'
import { money } from '@/lib/money'

/** The cart with the shop's prices. The shop's payment page asks for the email, the address and the shipping method. */
export function Cart() {
  const items = useCart()
  const [couponCode, setCouponCode] = useState('')
  const [couponProblem, setCouponProblem] = useState('')
  const [quote, setQuote] = useState<Quote>()
  const [error, setError] = useState('')
  const [isPaying, setPaying] = useState(false)

  useEffect(() => {
    if (items.length === 0) return
    // An older answer must not replace a newer one.
    const { signal, abort } = abortable()
    shop
      .quote({ items: [...items], ...(couponCode && { couponCode }) }, { signal })
      .then((quoted) => {
        setQuote(quoted)
        setError('')
        // A wrong code counts against the limit on guesses, so the next quote and the checkout do not have it.
        const refused = quoted.coupons[0]?.problem
        if (refused == null) return
        setCouponProblem(refused.message)
        setCouponCode('')
      })
      .catch((cause: unknown) => signal.aborted || setError(messageOf(cause)))
    return abort
  }, [items, couponCode])

  // The payment page leads back with the token of the order, which must not stay in the page's address.
  useEffect(() => {
    if (location.search.includes('orderToken=')) history.replaceState(history.state, '', location.pathname)
  }, [])

  // A buyer who comes back by the Back button can pay again.
  useEffect(() => {
    const comeBack = () => setPaying(false)
    addEventListener('pageshow', comeBack)
    return () => removeEventListener('pageshow', comeBack)
  }, [])

  function setQuantity(index: number, quantity: number) {
    setCart(items.flatMap((item, at) => (at !== index ? [item] : quantity > 0 ? [{ ...item, quantity }] : [])))
  }

  async function pay() {
    setPaying(true)
    setError('')
    try {
      const { checkoutUrl, orderToken } = await shop.checkout({
        items: [...items],
        ...(couponCode && { couponCode }),
        returnUrl: `${location.origin}/thanks`,
        cancelUrl: `${location.origin}/cart`
      })
      rememberPlaced(orderToken)
      location.assign(checkoutUrl)
    } catch (cause) {
      setError(messageOf(cause))
      setPaying(false)
    }
  }

  if (items.length === 0) return <p>Your cart is empty.</p>
  if (quote === undefined) return <p role="status">{error || 'One moment …'}</p>
  return (
    <>
      <ul className="lines">
        {quote.lines.map(({ productId, variationId, name, quantity, total, problem }, index) => (
          <li key={`${productId}-${variationId}`}>
            <span className="name">{name ?? 'No longer sold'}</span>
            <label>
              <span className="unseen">Quantity of {name}</span>
              <input
                type="number"
                min={1}
                max={50}
                value={quantity}
                onChange={({ target }) => setQuantity(index, Math.min(50, Math.max(1, Number(target.value))))}
              />
            </label>
            <span>{money(total, quote.currency)}</span>
            <button type="button" className="quiet" onClick={() => setQuantity(index, 0)}>
              Remove <span className="unseen">{name}</span>
            </button>
            {problem && <p className="error">{problem.message}</p>}
          </li>
        ))}
      </ul>
      <form
        className="coupon"
        onSubmit={(event) => {
          event.preventDefault()
          setCouponProblem('')
          setCouponCode(String(new FormData(event.currentTarget).get('coupon')).trim())
        }}
      >
        <label>
          Coupon
          <input name="coupon" autoComplete="off" />
        </label>
        <button className="quiet">Apply</button>
      </form>
      <p role="status">
        {couponProblem}
        {couponCode !== '' && quote.coupons[0]?.accepted && `${couponCode}: ${money(-quote.discount, quote.currency)}`}
      </p>
      <p className="total">
        Total {money(quote.total, quote.currency)}
        {quote.shipping.required && quote.shipping.chosen === null && ' and shipping'}
      </p>
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <button type="button" onClick={pay} disabled={isPaying || quote.lines.some(({ problem }) => problem !== null)}>
        Go to payment
      </button>
    </>
  )
}

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
