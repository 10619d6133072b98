/**
 * What happens on the client's connection: an answer, or a fault. `truncated` sends part of the body and closes;
 * `stalled` sends part of the body and then nothing.
 */
export type ApiOutcome =
  | { kind: 'answer' | 'truncated' | 'stalled'; status: number; headers: Record<string, string>; body: string }
  | { kind: 'reset' }
  | { kind: 'timeout' }
