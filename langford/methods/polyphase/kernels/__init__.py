"""The kernels of the polyphase form: ``polyphase`` for the processor, ``polyphase.cu`` for GPUs."""
