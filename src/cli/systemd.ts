import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { ShopCommand } from './command.ts'
import { AppError } from '../errors.ts'
import { packageRoot } from '../platform/package-root.ts'
import type { Answer } from './output.ts'
import { addCommand, runsOnFiles } from './run.ts'
import type { FileWork } from './run.ts'

type Options = { environment: string; user?: string }

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
  runsOnFiles(command, print)
}

function print({ config, options }: FileWork<Options>): Answer {
  const unit = writeUnit({
    node: realpathSync(process.execPath),
    program: join(packageRoot, 'bin', 'shopstead.js'),
    envFile: plainPath(options.environment),
    ...(options.user === undefined ? {} : { as: { user: plainName(options.user), dataDir: plainPath(config.dataDir) } })
  })
  return { json: { unit }, human: unit.trimEnd() }
}

type Facts = { node: string; program: string; envFile: string; as?: { user: string; dataDir: string } }

/**
 * The limit of each half of V8's space for new objects. Without it, a server under load takes 230 MB instead of 150 MB,
 * and answers no faster.
 */
const semiSpaceMegabytes = 16

/**
 * Without a user, systemd creates one (DynamicUser) and the data is in /var/lib/shopstead. MemoryDenyWriteExecute is
 * missing because V8 writes the code that it runs. systemd restarts a killed server immediately. It retries a server
 * that cannot start about every second without a limit, so the server returns when its disk or port is available. The
 * pause does not grow (RestartSteps), because systemd counts every restart in the life of the service. MemoryMax ends a
 * server that uses too much memory before the machine swaps or ends another program; systemd then starts it again.
 */
function writeUnit({ node, program, envFile, as }: Facts): string {
  const dataDir = as?.dataDir ?? '/var/lib/shopstead'
  const identity =
    as === undefined
      ? ['DynamicUser=yes', 'StateDirectory=shopstead', 'StateDirectoryMode=0700']
      : [`User=${as.user}`, `ReadWritePaths=${as.dataDir}`]
  return `${[
    '[Unit]',
    'Description=Shopstead',
    'Documentation=https://www.npmjs.com/package/shopstead',
    'After=network-online.target',
    'Wants=network-online.target',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    ...identity,
    'Environment=SHOPSTEAD_ENV=production',
    `Environment=SHOPSTEAD_DATA_DIR=${dataDir}`,
    `EnvironmentFile=-${envFile}`,
    `ExecStartPre=${node} ${program} migrate`,
    `ExecStart=${node} --max-semi-space-size=${semiSpaceMegabytes} ${program} serve`,
    'Restart=on-failure',
    'RestartSec=500ms',
    'TimeoutStopSec=30s',
    'UMask=0077',
    'MemoryMax=75%',
    'LimitNOFILE=65536',
    'CacheDirectory=shopstead',
    'CacheDirectoryMode=0700',
    'NoNewPrivileges=yes',
    'CapabilityBoundingSet=',
    'ProtectSystem=strict',
    `ProtectHome=${insideHome(node, program, dataDir) ? 'read-only' : 'yes'}`,
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
