/**
 * Makes something once for each object, and keeps it as long as the object is there, that of the last one longer: it is
 * at hand without a look, and mostly there is one only, such as a process's database.
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
