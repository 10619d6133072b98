/** What the caller's connection sees: an answer, or what a fault does to it. A cut body is sent, and then no more. */
export type ApiOutcome =
  | { kind: 'answer' | 'truncated' | 'stalled'; status: number; headers: Record<string, string>; body: string }
  | { kind: 'reset' }
  | { kind: 'timeout' }
