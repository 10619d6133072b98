import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { ShopCommand } from './command.ts'
import { AppError } from '../errors.ts'
import { packageRoot } from '../platform/package-root.ts'
import type { Answer } from './output.ts'
import { addCommand, runsOnFiles } from './run.ts'
import type { FileWork } from './run.ts'

type Options = { environment: string; user?: string }

/** A unit needs no configuration to be printed, so the one at hand is not looked at beyond the data folder. */
export function define(program: ShopCommand): void {
  const command = addCommand(
    program,
    'systemd',
    'print a systemd unit that runs the shop with as few rights as it needs',
    'systemd > /etc/systemd/system/shopstead.service'
  )
    .option('--environment <file>', 'where its SHOPSTEAD_* variables are', '/etc/shopstead/shopstead.env')
    .option('--user <name>', 'run as this user, with the data folder given (default: a user of its own)')
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
 * Without a user, systemd makes one (DynamicUser) and keeps the data in /var/lib/shopstead. MemoryDenyWriteExecute is
 * left out: V8 writes the code that it runs. A killed server is back at once; one that cannot start is tried again for as
 * long as it takes, every second or so, and comes back by itself with its disk or its port. A pause that grows
 * (RestartSteps) would grow with every kill in the life of the service, for systemd forgets none of them.
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
    `ExecStart=${node} ${program} serve`,
    'Restart=on-failure',
    'RestartSec=500ms',
    'TimeoutStopSec=30s',
    'UMask=0077',
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

/** A shop that is installed below /home or /root could not even be started behind ProtectHome=yes. */
function insideHome(...paths: string[]): boolean {
  return paths.some((path) => /^\/(home|root|run\/user)\//.test(path))
}

/** systemd reads spaces, quotes, percent signs and line breaks in a unit as its own. */
function plainPath(path: string): string {
  if (/^\/[\w./@+-]*$/.test(path)) return path
  throw new AppError('USAGE', 'A unit takes absolute paths of letters, digits and . _ - + @ only.')
}

function plainName(name: string): string {
  if (/^[a-z_][a-z0-9_-]{0,31}$/.test(name)) return name
  throw new AppError('USAGE', 'That is no name of a user.')
}
