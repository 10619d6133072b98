import { Node, Yallist } from 'yallist'

/** Names of routes, such as `GET /me`, so that logs contain no tokens and no personal data. */
const inProgress = new Yallist<string>()
/** When the last request of each route finished, by the monotonic clock. */
const finishedAt = new Map<string, number>()

/** Tracks a request by the name of its route until the returned function is called. */
export function beginRequest(name: string): () => void {
  const place = new Node(name)
  inProgress.pushNode(place)
  return () => {
    if (place.list === undefined) return
    inProgress.removeNode(place)
    finishedAt.set(name, performance.now())
  }
}

/** The routes of the requests that are in progress or have finished since a time of `performance.now()`. */
export function routesSince(time: number): string[] {
  const finished = [...finishedAt].filter(([, at]) => at >= time).map(([name]) => name)
  return [...new Set([...finished, ...inProgress])]
}
