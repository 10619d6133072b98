import { Node, Yallist } from 'yallist'

/** Names of routes, such as `GET /me`, so that logs contain no tokens and no personal data. */
const inProgress = new Yallist<string>()
let finished = new Set<string>()

/** Tracks a request by the name of its route until the returned function is called. */
export function beginRequest(name: string): () => void {
  const place = new Node(name)
  inProgress.pushNode(place)
  return () => {
    if (place.list === undefined) return
    inProgress.removeNode(place)
    finished.add(name)
  }
}

/** The routes of the requests that are in progress or have finished since the last call. */
export function takeRecentRoutes(): string[] {
  const recent = finished
  finished = new Set()
  for (const name of inProgress) recent.add(name)
  return [...recent]
}
