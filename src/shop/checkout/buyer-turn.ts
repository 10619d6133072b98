/** A checkout that asks a slow gateway does not hold up the buyer's next one for longer. */
const longestWaitMs = 10_000

/** The last checkout of each buyer that has one running. */
const running = new Map<string, Promise<void>>()

/**
 * Runs the checkouts of one buyer one after the other. A checkout replaces the buyer's earlier unpaid orders, so it must see
 * the order of a request that arrived at the same time, such as from a second tab. Otherwise that order would make the
 * same cart sold out. Another server process on the same database does not wait: there, only the same cart is recognised.
 */
export async function inBuyersTurn<T>(buyer: string, checkout: () => Promise<T>): Promise<T> {
  const before = running.get(buyer)
  const work = before === undefined ? checkout() : atMost(longestWaitMs, before).then(checkout)
  const end = work.then(ignore, ignore)
  running.set(buyer, end)
  try {
    return await work
  } finally {
    if (running.get(buyer) === end) running.delete(buyer)
  }
}

function atMost(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function ignore(): void {}
