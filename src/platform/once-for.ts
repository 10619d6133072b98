/**
 * Caches a value for each object as long as the object exists. It also keeps a reference to the last object and its
 * value, so that the common case of a single object, such as the process's database, needs no lookup.
 */
export function onceFor<Of extends WeakKey, T>(make: (of: Of) => T): (of: Of) => T {
  const made = new WeakMap<Of, Made<Of, T>>()
  let last: Made<Of, T> | undefined
  return (of) => {
    if (last?.of === of) return last.value
    last = made.get(of)
    if (last !== undefined) return last.value
    const value = make(of)
    last = { of, value }
    made.set(of, last)
    return value
  }
}

type Made<Of, T> = { of: Of; value: T }
