PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_email_tokens` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`user_id` integer NOT NULL,
	`salt` text NOT NULL,
	`token_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	`new_email` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "email_tokens_kind" CHECK("__new_email_tokens"."kind" IN ('verify', 'reset', 'email')),
	CONSTRAINT "email_tokens_new_email" CHECK(("__new_email_tokens"."kind" = 'email') = ("__new_email_tokens"."new_email" IS NOT NULL))
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_email_tokens`("id", "kind", "user_id", "salt", "token_hash", "created_at", "expires_at", "used_at", "new_email") SELECT "id", "kind", "user_id", "salt", "token_hash", "created_at", "expires_at", "used_at", NULL FROM `email_tokens`;--> statement-breakpoint
DELETE FROM sqlite_sequence WHERE name = '__new_email_tokens';
--> statement-breakpoint
INSERT INTO sqlite_sequence (name, seq) SELECT '__new_email_tokens', seq FROM sqlite_sequence WHERE name = 'email_tokens';
--> statement-breakpoint
DROP TABLE `email_tokens`;--> statement-breakpoint
ALTER TABLE `__new_email_tokens` RENAME TO `email_tokens`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE UNIQUE INDEX `email_tokens_hash` ON `email_tokens` (`token_hash`);--> statement-breakpoint
CREATE INDEX `email_tokens_by_user` ON `email_tokens` (`user_id`,`kind`);
