/** How an order is shipped, as the buyer chose it. `estimate` is text, such as `2–3 days`. */
export type ShippingMethod = { id: string; name: string; estimate: string | null }
