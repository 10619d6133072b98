import { execFileSync } from 'node:child_process'
import { z } from 'zod'

const component = z.looseObject({
  'bom-ref': z.string(),
  properties: z.array(z.object({ name: z.string(), value: z.string() }))
})
const sbom = z.looseObject({
  metadata: z.looseObject({ component: z.looseObject({ 'bom-ref': z.string() }) }),
  components: z.array(component),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) }))
})

/**
 * The bill of materials of the package in CycloneDX: the packages of the bundle, with the property `shopstead:bundled`,
 * and all that npm installs beside it. `npm sbom` writes it from the lock file. It has no time and no serial number, so
 * that the same sources make the same file.
 *
 * @param bundled versions by name
 * @throws Error when the lock file lacks a bundled package
 */
export function billOfMaterials(bundled: ReadonlyMap<string, string>): object {
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx']
  const all = sbom.parse(JSON.parse(execFileSync('npm', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })))
  const inBundle = new Set([...bundled].map(([name, version]) => `${name}@${version}`))
  const components = all.components
    .filter((each) => inBundle.has(each['bom-ref']) || !isForDevelopment(each))
    .map((each) => (inBundle.has(each['bom-ref']) ? asBundled(each) : each))
  const root = all.metadata.component
  const shipped = new Set([root['bom-ref'], ...components.map((each) => each['bom-ref'])])
  const missing = [...inBundle].filter((ref) => !shipped.has(ref))
  if (missing.length > 0) throw new Error(`The lock file lacks the bundled packages ${missing.join(', ')}.`)
  const { serialNumber: _serialNumber, ...document } = all
  const { timestamp: _timestamp, ...metadata } = all.metadata
  return {
    ...document,
    // npm uses the name of the folder.
    metadata: { ...metadata, component: { ...root, name: 'shopstead', type: 'application' } },
    components,
    dependencies: all.dependencies
      .filter(({ ref }) => shipped.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((name) => shipped.has(name)) }))
  }
}

type Component = z.output<typeof component>

function isForDevelopment({ properties }: Component): boolean {
  return properties.some(({ name }) => name === 'cdx:npm:package:development')
}

function asBundled(each: Component): Component {
  return { ...each, scope: 'required', properties: [{ name: 'shopstead:bundled', value: 'true' }] }
}
