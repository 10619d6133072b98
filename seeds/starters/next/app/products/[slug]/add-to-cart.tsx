'use client'

import type { Product } from '@shopstead/client'
import Link from 'next/link'
import { useState } from 'react'
import { addToCart } from '@/lib/cart'
import { money } from '@/lib/money'

/** The price, the choice of a variation, and the button. */
export function AddToCart({ product }: { product: Product }) {
  const { productId, variations } = product
  const first = variations.find(({ available }) => available) ?? variations[0]
  const [variationId, setVariationId] = useState(first?.variationId)
  const [isAdded, setAdded] = useState(false)
  const chosen = variations.find((variation) => variation.variationId === variationId)
  const { price, available } = chosen ?? product

  function add(form: FormData) {
    addToCart({
      productId,
      quantity: Number(form.get('quantity')),
      ...(variationId === undefined ? {} : { variationId })
    })
    setAdded(true)
  }

  return (
    <form action={add}>
      <p className="price">
        <strong>{money(price.amount, price.currency)}</strong>{' '}
        {price.originalAmount !== null && <s>{money(price.originalAmount, price.currency)}</s>}
      </p>
      {variations.length > 0 && (
        <label>
          Choice
          <select
            value={variationId}
            onChange={({ target }) => {
              setVariationId(Number(target.value))
              setAdded(false)
            }}
          >
            {variations.map((variation) => (
              <option key={variation.variationId} value={variation.variationId} disabled={!variation.available}>
                {Object.values(variation.options).join(', ') || variation.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        Quantity
        <input name="quantity" type="number" min={1} max={50} defaultValue={1} required />
      </label>
      <button disabled={!available}>{available ? 'Add to cart' : 'Sold out'}</button>
      <p role="status">{isAdded && <Link href="/cart">In the cart. Go to the cart</Link>}</p>
    </form>
  )
}
