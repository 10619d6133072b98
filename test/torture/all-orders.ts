import type { Browser } from '../support/browser.ts'

/** All orders of the logged-in user, read page by page. */
export async function allOrdersOf<Order>(browser: Browser): Promise<Order[]> {
  const orders: Order[] = []
  for (let page = 1; ; page += 1) {
    const { data } = await browser.get<{ orders: Order[]; pagination: { totalPages: number } }>(
      `/orders?perPage=100&page=${page}`
    )
    orders.push(...data.orders)
    if (page >= data.pagination.totalPages) return orders
  }
}
