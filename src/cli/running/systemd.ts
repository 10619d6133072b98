import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { ShopCommand, FileWork } from '../run.ts'
import { AppError } from '../../errors.ts'
import { findLitestream } from '../../operations/replica/litestream.ts'
import type { Config } from '../../platform/config/config.ts'
import { shopIdOfFolder } from '../../platform/shop-id.ts'
import { packageRoot } from '../../platform/package-root.ts'
import type { Answer } from '../terminal/output.ts'
import { addCommand, runsOnFiles } from '../run.ts'

type Options = { environment: string; user?: string; readOnly?: boolean; replicate?: string | true }

/** Reads only the data folder from the configuration, so that it also works with an invalid configuration. */
export function define(program: ShopCommand): void {
  const command = addCommand(
    program,
    'systemd',
    'print a systemd unit that runs the shop with minimal rights',
    'systemd > /etc/systemd/system/shopstead.service'
  )
    .option('--environment <file>', 'file with the SHOPSTEAD_* variables', '/etc/shopstead/shopstead.env')
    .option('--user <name>', 'run as this user, with this data folder (default: a dynamic user)')
    .option('--read-only', 'print the unit of a machine that follows the replica')
    .option(
      '--replicate [file]',
      'print the unit of the replication instead, with this configuration (default: /etc/shopstead/litestream.yml)'
    )
  runsOnFiles(command, print)
}

function print({ config, options }: FileWork<Options>): Answer {
  const { replicate } = options
  const facts = {
    node: realpathSync(process.execPath),
    program: join(packageRoot, 'bin', 'shopstead.js'),
    envFile: plainPath(options.environment),
    shopId: shopIdOfFolder(config.dataDir),
    readOnly: options.readOnly ?? false,
    ...(options.user === undefined ? {} : { as: { user: plainName(options.user), dataDir: plainPath(config.dataDir) } })
  }
  const unit =
    replicate === undefined
      ? serverUnit(facts)
      : replicaUnit(plainPath(replicate === true ? '/etc/shopstead/litestream.yml' : replicate), config, facts)
  return { json: { unit }, human: unit.trimEnd() }
}

type Facts = {
  node: string
  program: string
  envFile: string
  /** The id of the shop in the data folder; null before there is one. */
  shopId: string | null
  readOnly: boolean
  as?: { user: string; dataDir: string }
}

/**
 * The limit of each half of V8's space for new objects. With V8's own 16 MB a server takes 5 to 10 MB more when idle and 20 MB
 * more under load, and answers no faster.
 */
const semiSpaceMegabytes = 4

/**
 * Without a user, systemd creates one (DynamicUser) and the data is in /var/lib/shopstead. MemoryDenyWriteExecute is
 * missing because V8 writes the code that it runs. systemd restarts a killed server immediately. It retries a server
 * that cannot start about every second without a limit, so the server returns when its disk or port is available. The
 * pause does not grow (RestartSteps), because systemd counts every restart in the life of the service. MemoryMax ends a
 * server that uses too much memory before the machine swaps or ends another program; systemd then starts it again.
 */
function serverUnit({ node, program, envFile, shopId, readOnly, as }: Facts): string {
  const dataDir = dataDirOf(as)
  return toUnit({
    about: ['Description=Shopstead', 'Documentation=https://www.npmjs.com/package/shopstead'],
    service: [
      ...(as === undefined ? dynamicUser : ownUser(as)),
      'Environment=SHOPSTEAD_ENV=production',
      `Environment=SHOPSTEAD_DATA_DIR=${dataDir}`,
      ...(shopId === null ? [] : [`Environment=SHOPSTEAD_SHOP_ID=${shopId}`]),
      `EnvironmentFile=-${envFile}`,
      // A machine that follows has no database to migrate, and migrates itself once it was promoted.
      ...(readOnly ? [] : [`ExecStartPre=${node} ${program} migrate`]),
      `ExecStart=${node} --max-semi-space-size=${semiSpaceMegabytes} ${program} serve${readOnly ? ' --read-only' : ''}`,
      'Restart=on-failure',
      'RestartSec=500ms',
      'TimeoutStopSec=30s',
      'MemoryMax=75%',
      'LimitNOFILE=65536',
      'CacheDirectory=shopstead',
      'CacheDirectoryMode=0700'
    ],
    protectHome: !insideHome(node, program, dataDir)
  })
}

/**
 * The unit of Litestream. It runs as the server's user: with DynamicUser, units that name the same user share it. It
 * starts before the server and stops after it. So it has the last orders, and the write-ahead log stays: without the log,
 * each restart of the machine would need a new copy of the whole database.
 *
 * ExecStartPre keeps an old machine that comes back from writing to the replica, also while the replica does not answer.
 */
function replicaUnit(configuration: string, config: Config, { node, program, envFile, shopId, as }: Facts): string {
  const { replica } = config
  const litestream = findLitestream(config) ?? '/usr/bin/litestream'
  const folder = replica?.type === 'file' ? [`ReadWritePaths=${replica.path}`] : []
  return toUnit({
    about: ['Description=Replication of Shopstead', 'Documentation=https://litestream.io', 'Before=shopstead.service'],
    service: [
      ...(as === undefined ? ['User=shopstead', ...dynamicUser] : ownUser(as)),
      ...folder,
      'Environment=SHOPSTEAD_ENV=production',
      `Environment=SHOPSTEAD_DATA_DIR=${dataDirOf(as)}`,
      ...(shopId === null ? [] : [`Environment=SHOPSTEAD_SHOP_ID=${shopId}`]),
      `EnvironmentFile=-${envFile}`,
      `ExecStartPre=${node} ${program} replicate --check`,
      `ExecStart=${litestream} replicate -config ${configuration}`,
      'Restart=always',
      'RestartSec=5s',
      'TimeoutStopSec=30s',
      'MemoryMax=25%'
    ],
    protectHome: !insideHome(node, program, dataDirOf(as), replica?.type === 'file' ? replica.path : '')
  })
}

function dataDirOf(as: Facts['as']): string {
  return as?.dataDir ?? '/var/lib/shopstead'
}

const dynamicUser = ['DynamicUser=yes', 'StateDirectory=shopstead', 'StateDirectoryMode=0700']

function ownUser({ user, dataDir }: NonNullable<Facts['as']>): string[] {
  return [`User=${user}`, `ReadWritePaths=${dataDir}`]
}

type Unit = { about: string[]; service: string[]; protectHome: boolean }

function toUnit({ about, service, protectHome }: Unit): string {
  return `${[
    '[Unit]',
    ...about,
    'After=network-online.target',
    'Wants=network-online.target',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    ...service,
    'UMask=0077',
    'NoNewPrivileges=yes',
    'CapabilityBoundingSet=',
    'ProtectSystem=strict',
    `ProtectHome=${protectHome ? 'yes' : 'read-only'}`,
    'PrivateTmp=yes',
    'PrivateDevices=yes',
    'ProtectKernelTunables=yes',
    'ProtectKernelModules=yes',
    'ProtectKernelLogs=yes',
    'ProtectControlGroups=yes',
    'ProtectClock=yes',
    'ProtectHostname=yes',
    'ProtectProc=invisible',
    'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX',
    'RestrictNamespaces=yes',
    'RestrictRealtime=yes',
    'RestrictSUIDSGID=yes',
    'LockPersonality=yes',
    'SystemCallArchitectures=native',
    'SystemCallFilter=@system-service',
    'SystemCallErrorNumber=EPERM',
    '',
    '[Install]',
    'WantedBy=multi-user.target'
  ].join('\n')}\n`
}

/** With ProtectHome=yes, a shop that is installed below /home or /root cannot start. */
function insideHome(...paths: string[]): boolean {
  return paths.some((path) => /^\/(home|root|run\/user)\//.test(path))
}

/** In a unit, spaces, quotes, percent signs and line breaks have a special meaning. */
function plainPath(path: string): string {
  if (/^\/[\w./@+-]*$/.test(path)) return path
  throw new AppError(
    'USAGE',
    'A path in a unit must be absolute and contain only letters, digits and . _ - + @ characters.'
  )
}

function plainName(name: string): string {
  if (/^[a-z_][a-z0-9_-]{0,31}$/.test(name)) return name
  throw new AppError('USAGE', '--user must be the name of a user.')
}
