import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksIn } from '../../docs/pages.ts'
import { fakeTime } from '../../support/fake-time.ts'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'

export type Cache = {
  url: string
  /** Moves the cache's clock forward. It stands still otherwise. */
  advance(seconds: number): void
  /** The stored responses, with their headers. */
  stored(): { key: string; text: string }[]
  stop(): Promise<void>
}

/** Starts nginx in front of a shop, with the configuration of docs/scaling.md. Its files are in `folder`. */
export async function startCache(folder: string, shopUrl: string): Promise<Cache> {
  const [port, timeFile, storage] = [await freePort(), join(folder, 'time'), join(folder, 'stored')]
  const config = join(folder, 'nginx.conf')
  const clock = fakeTime(timeFile)
  writeFileSync(config, configuration(folder, { port, storage, shopUrl }, Object.keys(clock)))
  let now = Date.UTC(2030, 0, 1)
  const setClock = () => writeFileSync(timeFile, `${new Date(now).toISOString().slice(0, 19).replace('T', ' ')}\n`)
  setClock()
  const args = ['-c', config, '-p', folder, '-e', join(folder, 'error.log')]
  const env = { PATH: `${process.env['PATH']}:/usr/sbin`, TZ: 'UTC', ...clock }
  const child = spawn('nginx', args, { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const failed = once(child, 'error').then(() => {
    throw new Error('nginx is missing. On Debian, run: apt-get install nginx-light')
  })
  const url = `http://127.0.0.1:${port}`
  await Promise.race([failed, answering(url)])
  return {
    url,
    advance(seconds) {
      now += seconds * 1000
      setClock()
    },
    stored: () => storedIn(storage),
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
  }
}

type Place = { port: number; storage: string; shopUrl: string }

/** `variables` are those of the environment that nginx must not remove. */
function configuration(folder: string, { port, storage, shopUrl }: Place, variables: readonly string[]): string {
  const server = blocksIn('nginx').find(({ file }) => file === 'docs/scaling.md')?.code ?? ''
  const replaced = server
    .replace('/var/cache/nginx/shop', storage)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('http://127.0.0.1:3000', shopUrl)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => {
    const path = join(folder, name)
    mkdirSync(path)
    return `${name}_temp_path ${path};`
  })
  return `daemon off; master_process off; pid ${join(folder, 'pid')};
${variables.map((name) => `env ${name};`).join('\n')}
events {}
http {
access_log off;
${temporary.join('\n')}
${replaced}
}`
}

async function answering(url: string): Promise<void> {
  const health = () => fetch(`${url}/api/v1/health`).catch(() => undefined)
  await until('an answer through nginx', async () => (await health())?.status === 200)
}

function storedIn(storage: string): { key: string; text: string }[] {
  return readdirSync(storage, { recursive: true, encoding: 'utf8' })
    .map((name) => join(storage, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => {
      const text = readFileSync(file, 'latin1')
      return { key: /\nKEY: (.*)\n/.exec(text)?.[1] ?? '', text }
    })
}
