CREATE TABLE `webhook_probes` (
	`token` text PRIMARY KEY NOT NULL,
	`deliveries` text NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `webhook_signatures` (
	`id` integer PRIMARY KEY NOT NULL,
	`refused` integer NOT NULL,
	`refused_since_accepted` integer NOT NULL,
	`refused_at` integer,
	`accepted_at` integer,
	CONSTRAINT "webhook_signatures_one" CHECK("webhook_signatures"."id" = 1)
) STRICT;
