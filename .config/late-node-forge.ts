/**
 * Stands in for node-forge in the bundle. listhen imports node-forge, which takes an eighth of a start, but uses it only
 * to create a self-signed certificate.
 */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export default new Proxy({}, { get: (_, name): unknown => Reflect.get(require('node-forge') as object, name) })
