import type { z } from 'zod'

/** An error in an entry: the path of the field, and a sentence that never repeats the value. */
export type EntryIssue = { path: PropertyKey[]; cause: string }

/** Parses an entry with the schema; on errors, passes each one to `report` and returns undefined. */
export function readEntry<T>(schema: z.ZodType<T>, value: unknown, report: (issue: EntryIssue) => void): T | undefined {
  const result = schema.safeParse(value, { error: messageFor })
  if (result.success) return result.data
  for (const issue of result.error.issues.flatMap(flatten)) report(issue)
  return undefined
}

function flatten(issue: z.core.$ZodIssue): EntryIssue[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, cause: issue.message }]
  return issue.keys.map((key) => ({ path: [...issue.path, key.slice(0, 80)], cause: 'Is not a known field.' }))
}

function messageFor(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined
  if (issue.input === undefined) return 'Is required.'
  const names: Readonly<Record<string, string>> = { array: 'a list', object: 'an object', int: 'a whole number' }
  return `Must be ${names[issue.expected] ?? `a ${issue.expected}`}.`
}
