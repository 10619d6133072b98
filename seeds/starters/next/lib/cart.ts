'use client'

import { useSyncExternalStore } from 'react'

export type CartItem = { productId: number; variationId?: number; quantity: number }

const key = 'cart'
const none: readonly CartItem[] = []
const listeners = new Set<() => void>()
/** The stored text and its items, so that an unchanged cart stays the same value. */
let last: { text: string | null; items: readonly CartItem[] } = { text: null, items: none }

function read(): readonly CartItem[] {
  const text = localStorage.getItem(key)
  if (text !== last.text) last = { text, items: parse(text) }
  return last.items
}

function parse(text: string | null): readonly CartItem[] {
  try {
    return (JSON.parse(text ?? 'null') as CartItem[] | null) ?? none
  } catch {
    return none
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  // Another tab changed the cart.
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}

/** The cart of this browser. */
export function useCart(): readonly CartItem[] {
  return useSyncExternalStore(subscribe, read, () => none)
}

export function setCart(items: readonly CartItem[]): void {
  localStorage.setItem(key, JSON.stringify(items))
  for (const listener of listeners) listener()
}

/** Adds units of a product or variation. One order takes at most 50 of each. */
export function addToCart(added: CartItem): void {
  const isSame = (item: CartItem) => item.productId === added.productId && item.variationId === added.variationId
  const items = read()
  if (!items.some(isSame)) return setCart([...items, added])
  setCart(
    items.map((item) => (isSame(item) ? { ...item, quantity: Math.min(50, item.quantity + added.quantity) } : item))
  )
}

const placedKey = 'placed'

/** Remembers the order that the cart becomes. */
export function rememberPlaced(orderToken: string): void {
  localStorage.setItem(placedKey, orderToken)
}

/** Empties the cart if it became this order. A link to an older order leaves it as it is. */
export function emptyIfPlaced(orderToken: string): void {
  if (localStorage.getItem(placedKey) !== orderToken) return
  localStorage.removeItem(placedKey)
  setCart([])
}
