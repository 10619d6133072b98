ALTER TABLE `idempotency_keys` ADD `body_fingerprint` text;--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_key` ON `idempotency_keys` (`key`);
