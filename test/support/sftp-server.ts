import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort } from './free-port.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { until } from './until.ts'

const program = '/usr/sbin/sshd'

/** Whether this machine has OpenSSH's server (Debian: openssh-server). */
export const hasSftpServer = existsSync(program)

/** Starts an SFTP server for the test. Returns the address of a replica there, and the file of the key that may log in. */
export async function startSftpServer(): Promise<{ address: string; keyFile: string }> {
  const folder = temporaryFolder()
  const [hostKey, keyFile] = [join(folder, 'host'), join(folder, 'key')]
  for (const file of [hostKey, keyFile]) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file])
  copyFileSync(`${keyFile}.pub`, join(folder, 'authorized'))
  const port = await freePort()
  const configuration = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${hostKey}`,
    `AuthorizedKeysFile ${join(folder, 'authorized')}`,
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    // The folders above a temporary one belong to others.
    'StrictModes no',
    'UsePAM no',
    'PidFile none',
    'Subsystem sftp internal-sftp'
  ]
  writeFileSync(join(folder, 'config'), `${configuration.join('\n')}\n`)
  // As root, sshd needs this folder. Debian's service creates it.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  await run(['-D', '-e', '-f', join(folder, 'config')])
  return { address: `sftp://${userInfo().username}@127.0.0.1:${port}${join(folder, 'replica')}`, keyFile }
}

/** Runs the server until the test ends, and waits until it listens. */
async function run(args: string[]): Promise<void> {
  const server = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  server.stderr.on('data', (part: Buffer) => void (log += part.toString()))
  onTestFinished(() => void server.kill('SIGTERM'))
  await until('sshd listens', () => server.exitCode !== null || log.includes('Server listening'))
  if (server.exitCode !== null) throw new Error(`sshd ended: ${log}`)
}
