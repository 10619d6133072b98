import { channel } from 'node:diagnostics_channel'

/** What is known of a request once it has been answered; `path` is the route's, so that there are few of them. */
export type FinishedRequest = { method: string; path: string; status: number; ms: number }

/** Where every answered request is told of; costs nothing while nobody listens. */
export const finishedRequests = channel('shopstead:request')
