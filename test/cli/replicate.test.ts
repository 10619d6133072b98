import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shopstead } from '../support/command-line.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const configurationOf = async (address: string, dataDir = temporaryFolder()) => {
  const { json } = await shopstead<{ configuration: string }>(dataDir, ['replicate', '--to', address, '--json'])
  return json.configuration
}

describe('replicate', () => {
  it('prints where the database is and where it is copied to', async () => {
    const dataDir = temporaryFolder()
    const printed = await configurationOf('/mnt/nas/shop', dataDir)
    expect(printed).toContain(`- path: "${join(dataDir, 'shopstead.db')}"`)
    expect(printed).toContain('- type: file\n        path: "/mnt/nas/shop"\n')
  })

  it('names the variables of the credentials, not their values', async () => {
    const env = { SHOPSTEAD_REPLICA_SECRET_ACCESS_KEY: 'very-secret', SHOPSTEAD_REPLICA: 's3://bucket/shop' }
    const { stdout } = await shopstead(temporaryFolder(), ['replicate'], { env })
    expect(stdout).toContain("secret-access-key: '${SHOPSTEAD_REPLICA_SECRET_ACCESS_KEY}'")
    expect(stdout).not.toContain('very-secret')
    expect(await configurationOf('sftp://backup@host.example:2222/srv/shop')).toContain(
      'host: "host.example:2222"\n        user: "backup"\n        path: "/srv/shop"\n'
    )
  })

  it('takes the endpoint and the region of a service other than AWS', async () => {
    const printed = await configurationOf('s3://bucket/shop?endpoint=https://minio.example:9000&region=eu-1')
    expect(printed).toContain('endpoint: "https://minio.example:9000"\n        region: "eu-1"\n')
  })

  it.each([
    'relative/folder',
    '/',
    '/mnt/../etc',
    '/mnt/$HOME',
    '/mnt/a"b',
    '/mnt/a\nb: c',
    's3://bucket',
    's3://bucket/shop?endpoint=http://minio.example',
    's3://bucket/shop?token=1',
    's3://key:secret@bucket/shop',
    'sftp://host/srv/shop',
    'sftp://user:password@host/srv/shop',
    'https://host/srv/shop'
  ])('does not take the address %j', async (address) => {
    const { code, json } = await shopstead(temporaryFolder(), ['replicate', '--to', address, '--json'])
    expect({ code, json }).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } })
    const env = { SHOPSTEAD_REPLICA: address }
    const started = await shopstead(temporaryFolder(), ['replicate', '--json'], { env })
    expect(started.json).toMatchObject({ error: { code: 'CONFIG_INVALID' } })
  })
})

describe('systemd --replicate', () => {
  const unitOf = async (args: string[], env = {}) => {
    const { json } = await shopstead<{ unit: string }>(
      temporaryFolder(),
      ['systemd', '--replicate', ...args, '--json'],
      {
        env
      }
    )
    return json.unit
  }

  it('runs Litestream as the user of the server, from before its start until after its end', async () => {
    const unit = await unitOf([])
    expect(unit).toContain('Before=shopstead.service\n')
    expect(unit).toMatch(/^User=shopstead\nDynamicUser=yes$/m)
    expect(unit).toMatch(/^ExecStart=\S+\/litestream replicate -config \/etc\/shopstead\/litestream\.yml$/m)
    expect(await unitOf(['/srv/litestream.yml', '--user', 'shop'])).toMatch(/-config \/srv\/litestream\.yml$/m)
  })

  it('asks before each start whether another machine has continued the shop', async () => {
    const unit = await unitOf([])
    expect(unit).toMatch(/^ExecStartPre=\S+ \S+\/bin\/shopstead\.js replicate --check$/m)
    expect(unit).toContain('Environment=SHOPSTEAD_DATA_DIR=/var/lib/shopstead\n')
  })

  it('may write to a replica in a folder', async () => {
    expect(await unitOf([], { SHOPSTEAD_REPLICA: '/mnt/nas/shop' })).toContain('ReadWritePaths=/mnt/nas/shop\n')
  })
})
