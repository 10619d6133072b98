import type { ShopCommand, CommonOptions } from '../run.ts'
import { addCommand, loadConfig } from '../run.ts'

export function define(program: ShopCommand): void {
  const about = 'print the API description (OpenAPI 3.1) as the server would answer it'
  const command = addCommand(program, 'openapi', about, 'openapi > openapi.json')
  command.action(async () => {
    const options = command.opts<CommonOptions>()
    const { terminal } = command
    const { documentOf } = await import('../../api/openapi.ts')
    const config = await loadConfig(terminal, options)
    const publicUrl = config.publicUrl ?? `http://localhost:${config.port}`
    const document = await documentOf({ config, publicUrl: () => publicUrl })
    terminal.stdout.write(`${JSON.stringify(document, null, options.json ? undefined : 2)}\n`)
  })
}
