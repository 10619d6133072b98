import { rawStatement } from '../../platform/db/statements.ts'

/**
 * Queues a delivery of the event for each active endpoint that subscribes to its type. An endpoint receives only the
 * events emitted after it was added.
 */
export const queueDeliveries = rawStatement<[{ eventId: number; type: string; now: number }]>(`
  INSERT INTO webhook_deliveries (endpoint_id, event_id, state, attempts, next_attempt_at, created_at)
  SELECT id, @eventId, 'queued', 0, @now, @now FROM webhook_endpoints
  WHERE active = 1 AND (types IS NULL OR EXISTS (SELECT 1 FROM json_each(types) WHERE value = @type))`)
