/** Settings for a test in which one client address has many unpaid orders. */
export const withoutHoldLimits = {
  'checkout.heldOrders': '1000',
  'checkout.heldOrdersPerAddress': '100000',
  'checkout.heldStockPercent': '100'
} as const

/** The same as arguments of `shopstead`. */
export const commandsWithoutHoldLimits: string[][] = Object.entries(withoutHoldLimits).map(([key, value]) => [
  'settings',
  'set',
  key,
  value
])
