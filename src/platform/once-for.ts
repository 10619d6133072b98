/** Caches a value for each object, such as a prepared statement for each database, as long as the object exists. */
export function onceFor<Of extends WeakKey, T>(make: (of: Of) => T): (of: Of) => T {
  const made = new WeakMap<Of, { value: T }>()
  return (of) => {
    const known = made.get(of)
    if (known !== undefined) return known.value
    const value = make(of)
    made.set(of, { value })
    return value
  }
}
