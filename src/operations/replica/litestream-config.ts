import { AppError } from '../../errors.ts'
import { replicaVariables } from '../../platform/config/replica.ts'
import type { Replica } from '../../platform/config/replica.ts'

const { accessKeyId, secretAccessKey, keyFile } = replicaVariables

/**
 * Litestream's configuration (version 0.3) for a shop's database. It has no secrets: Litestream reads them from the
 * variables that it names.
 *
 * Litestream looks for changes every 200 ms and sends them every 500 ms, so a lost machine loses less than a second. A
 * snapshot every 6 hours limits what a restore has to replay.
 *
 * @throws AppError USAGE when the path of the database means something in Litestream's configuration
 */
export function litestreamConfig(database: string, replica: Replica): string {
  if (/["$\\\n]/.test(database))
    throw new AppError('USAGE', 'Litestream cannot use a data folder with a quote, $ or \\ in its path.')
  const place = placeOf(replica).map(([key, value]) => `        ${key}: ${value}`)
  return `${[
    'dbs:',
    `  - path: "${database}"`,
    '    monitor-interval: 200ms',
    '    replicas:',
    `      - type: ${replica.type}`,
    ...place,
    '        sync-interval: 500ms',
    '        snapshot-interval: 6h',
    '        retention: 24h',
    '        retention-check-interval: 1h'
  ].join('\n')}\n`
}

/** What says where the replica is, as YAML. */
function placeOf(replica: Replica): [key: string, value: string][] {
  const path: [string, string] = ['path', `"${replica.path}"`]
  if (replica.type === 'file') return [path]
  if (replica.type === 'sftp')
    return [['host', `"${replica.host}"`], ['user', `"${replica.user}"`], path, ['key-path', `'\${${keyFile}}'`]]
  return [
    ['bucket', `"${replica.bucket}"`],
    path,
    ...(replica.endpoint === null ? [] : [['endpoint', `"${replica.endpoint}"`] satisfies [string, string]]),
    ...(replica.region === null ? [] : [['region', `"${replica.region}"`] satisfies [string, string]]),
    ['access-key-id', `'\${${accessKeyId}}'`],
    ['secret-access-key', `'\${${secretAccessKey}}'`]
  ]
}
