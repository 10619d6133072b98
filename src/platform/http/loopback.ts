/**
 * Whether a URL names this machine: 127.0.0.0/8, ::1, localhost, or a name below localhost (RFC 6761, section 6.3), as
 * browsers decide it for secure contexts.
 */
export function isLoopback({ hostname }: URL): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}
