/** A product without stock limit, and one with several grants. */
export const plenty = { productId: 1, quantity: 1 }
export const bundle = { productId: 2, quantity: 1 }
export const bundleMinor = 2000

/** The product of a round, which has one unit in stock. */
export function lastItemOf(round: number): { productId: number; quantity: number } {
  return { productId: round + 2, quantity: 1 }
}

/** A catalog with one product and three coupons for each round. A product's id is its position in the list. */
export function catalogFor(rounds: number): object {
  const numbers = Array.from({ length: rounds }, (_, index) => index + 1)
  const grants = [
    { kind: 'membership', module: 'A', plan: 'friends', period: 'P1M' },
    { kind: 'course', course: 'lantern-care' },
    { kind: 'download', file: 'care.pdf', days: 90 },
    { kind: 'donation', campaign: 'roof' }
  ]
  return {
    plans: [{ slug: 'friends', name: 'Friends', module: 'A', rank: 10, pro: false }],
    campaigns: [{ slug: 'roof', name: 'A new roof' }],
    products: [
      { slug: 'plenty', name: 'Plenty', price: '5.00' },
      { slug: 'bundle', name: 'Bundle', price: '20.00', type: 'digital', grants },
      ...numbers.map((number) => ({ slug: `last-${number}`, name: `Last ${number}`, price: '5.00', stock: 1 }))
    ],
    coupons: numbers.flatMap((number) => [
      { code: `ONCE${number}`, percent: 10, maxUses: 1 },
      { code: `EACH${number}`, percent: 10, maxUsesPerCustomer: 1 },
      { code: `OWN${number}`, percent: 10, maxUsesPerCustomer: 1 }
    ])
  }
}
