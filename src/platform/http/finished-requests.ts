import { channel } from 'node:diagnostics_channel'

/** An answered request. `path` is the path of its route, so that metrics have few labels. */
export type FinishedRequest = { method: string; path: string; status: number; ms: number }

/** Publishes every answered request; costs nothing without a subscriber. */
export const finishedRequests = channel('shopstead:request')
